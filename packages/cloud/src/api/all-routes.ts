import type { AgentService } from '../agents/agent-service.ts'
import type { BuildService } from '../builds/build-service.ts'
import type { UploadService } from '../builds/uploads/upload-service.ts'
import type { KeyService } from '../keys/key-service.ts'
import type { SecretService } from '../secrets/secret-service.ts'
import type { SessionService } from '../sessions/session-service.ts'
import type { StartService } from '../sessions/start-service.ts'
import type { SettingsService } from '../settings/settings-service.ts'
import { callerOf } from './caller.ts'
import type { Route } from './route.ts'
import { agentRoutes } from './routes/agent-routes.ts'
import { buildRoutes } from './routes/build-routes.ts'
import { gatewayRoutes } from './routes/gateway-routes.ts'
import { keyRoutes } from './routes/key-routes.ts'
import { secretRoutes } from './routes/secret-routes.ts'
import { sessionRoutes } from './routes/session-routes.ts'
import { settingsRoutes } from './routes/settings-routes.ts'

/** What the routes call. */
export interface Services {
  readonly agents: AgentService
  readonly sessions: SessionService
  readonly starts: StartService
  readonly builds: BuildService
  readonly uploads: UploadService
  readonly secrets: SecretService
  readonly keys: KeyService
  readonly settings: SettingsService
  /** The address by which whoever sent these headers reaches the cloud. */
  readonly originOf: (headers: NodeJS.Dict<string | string[]>) => string
}

/** Every route of the API, in the order of the document. */
export function allRoutes(services: Services): readonly Route[] {
  const { agents, sessions, starts, builds, uploads, secrets, keys, settings, originOf } = services
  return [
    ...agentRoutes(agents),
    ...sessionRoutes({ sessions, starts, callerOf: (incoming) => callerOf(incoming, originOf) }),
    ...gatewayRoutes(),
    ...buildRoutes({ builds, uploads, uploadUrl: (id, headers) => `${originOf(headers)}/v1/uploads/${id}` }),
    ...secretRoutes(secrets),
    ...keyRoutes(keys),
    ...settingsRoutes(settings),
  ]
}
