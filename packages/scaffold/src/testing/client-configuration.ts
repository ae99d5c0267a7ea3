import type { Configuration } from '../configuration.ts'
import { QUICKSTART_CONFIGURATION } from '../resolve/quickstart.ts'

/** A web bot with a client, for tests that are about the client. */
export function clientConfiguration(
  parts: Partial<Configuration> & { readonly title?: string } = {},
): Configuration {
  const { title = 'My bot', ...rest } = parts
  return {
    ...QUICKSTART_CONFIGURATION,
    names: { title, python: 'my-bot', npm: 'my-bot', agent: 'my-bot' },
    transports: ['webrtc'],
    clientFramework: 'react',
    clientServer: 'vite',
    deployToCloud: false,
    ...rest,
  }
}
