import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import type { Builder, BuilderProbe } from '../builder.ts'
import { DockerBuilder } from './docker-builder.ts'
import { EngineClient } from './engine-client.ts'

const version = z.object({
  Version: z.string(),
  ApiVersion: z.string(),
  Components: z.array(z.object({ Name: z.string() })).optional(),
})

/** An engine that speaks Docker's API. */
export interface FoundEngine {
  readonly kind: 'docker' | 'podman'
  readonly version: string
  readonly apiVersion: string
  readonly socketPath: string
}

/** Looks whether an engine with Docker's API listens on a Unix socket here, to build with it. */
export function dockerProbe(env: Readonly<Record<string, string | undefined>> = process.env): BuilderProbe {
  return {
    kind: 'docker',
    probe: async (): Promise<Builder | { readonly unavailable: string }> => {
      const found = await findEngine(env)
      if ('unavailable' in found) return found
      const { kind, version, socketPath, apiVersion } = found
      return new DockerBuilder({ kind, version, engine: new EngineClient(socketPath, apiVersion) })
    },
  }
}

/** The first engine with Docker's API that answers on a Unix socket here; or why there is none. */
export async function findEngine(
  env: Readonly<Record<string, string | undefined>>,
): Promise<FoundEngine | { readonly unavailable: string }> {
  const host = env.DOCKER_HOST
  if (host !== undefined && host !== '' && !host.startsWith('unix://'))
    return { unavailable: `DOCKER_HOST is ${host}, and only Unix sockets are spoken to` }
  const sockets = (host ? [host.slice('unix://'.length)] : usualSockets(env)).filter((path) =>
    existsSync(path),
  )
  if (sockets.length === 0) return { unavailable: 'no socket of Docker or podman was found' }
  const reasons: string[] = []
  for (const path of sockets) {
    const found = await tryEngine(path)
    if (!('unavailable' in found)) return found
    reasons.push(found.unavailable)
  }
  return { unavailable: reasons.join('; ') }
}

function usualSockets(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const own = env.XDG_RUNTIME_DIR
  return [
    '/var/run/docker.sock',
    ...(own === undefined ? [] : [join(own, 'docker.sock')]),
    join(homedir(), '.docker/run/docker.sock'),
    '/run/podman/podman.sock',
    ...(own === undefined ? [] : [join(own, 'podman/podman.sock')]),
  ]
}

async function tryEngine(path: string): Promise<FoundEngine | { readonly unavailable: string }> {
  try {
    const { status, body } = await new EngineClient(path).ask({ method: 'GET', path: '/version' })
    const found = version.safeParse(body)
    if (status !== 200 || !found.success)
      return { unavailable: `what listens on ${path} is no container engine` }
    const { Version, ApiVersion, Components } = found.data
    const kind = /podman/i.test(Components?.[0]?.Name ?? '') ? 'podman' : 'docker'
    return { kind, version: Version, apiVersion: ApiVersion, socketPath: path }
  } catch (error) {
    return { unavailable: `nobody answers on ${path} (${(error as Error).message})` }
  }
}
