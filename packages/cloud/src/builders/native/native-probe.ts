import type { Builder, BuilderProbe } from '../builder.ts'
import type { Limiter } from '../limits/limiter.ts'
import { NativeBuilder } from './native-builder.ts'
import { findTools } from './tools.ts'

/** Looks whether this machine can build without a container tool. */
export function nativeProbe(options: {
  readonly limiter: () => Promise<Limiter>
  readonly bundles: string
  readonly hide: readonly string[]
}): BuilderProbe {
  return {
    kind: 'native',
    probe: async (): Promise<Builder | { readonly unavailable: string }> => {
      const tools = await findTools()
      if ('missing' in tools.python && tools.npm === undefined)
        return { unavailable: `${tools.python.missing}, and npm was not found` }
      const { bundles, hide } = options
      return new NativeBuilder({ tools, limiter: await options.limiter(), bundles, hide })
    },
  }
}
