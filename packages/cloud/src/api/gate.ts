import type { ServerResponse } from 'node:http'
import type { KeyFamily } from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'
import type { KeyService } from '../keys/key-service.ts'
import type { StoredKey } from '../store/store.ts'

const LOST = 'Whoever runs the cloud gets a new one by starting it with: botcli cloud --new-key'
const BEARER = /^Bearer +(\S{1,200}) *$/i

/** Lets holders of the right key in. */
export class Gate {
  readonly #keys: KeyService

  constructor(keys: KeyService) {
    this.#keys = keys
  }

  /** Judges an `Authorization` header; at once if its key was used lately. */
  enter(authorization: string | undefined, family: KeyFamily): StoredKey | Promise<StoredKey> {
    const [, text] = BEARER.exec(authorization ?? '') ?? []
    if (text === undefined) {
      throw new CloudError('UNAUTHORIZED', 'A key is needed. Send the header: Authorization: Bearer <key>')
    }
    const key = this.#keys.find(text)
    return key instanceof Promise ? key.then((found) => judge(found, family)) : judge(key, family)
  }

  /** Cuts an answer that can take long when the key that opened is revoked. To be called right after it has. */
  watch({ id }: StoredKey, outgoing: ServerResponse): void {
    if (outgoing.closed) return
    const unwatch = this.#keys.onRevoked(id, () => outgoing.destroy())
    outgoing.once('close', unwatch)
  }
}

function judge(key: StoredKey | undefined, family: KeyFamily): StoredKey {
  if (!key) throw new CloudError('UNAUTHORIZED', `This key is unknown or was revoked. ${LOST}`)
  if (key.family === family) return key
  const wanted = family === 'private' ? 'private key (sk_…)' : 'public key (pk_…)'
  throw new CloudError('FORBIDDEN', `This part of the API needs a ${wanted}; the key given is ${key.family}.`)
}

/** Which keys open a path. */
export function familyOf(path: string): KeyFamily {
  return path === '/v1/public' || path.startsWith('/v1/public/') ? 'public' : 'private'
}
