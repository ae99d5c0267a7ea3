import { createKeyRequest, createKeyResponse, keyListResponse, okResponse } from '@botcli/protocol/cloud'
import * as z from 'zod'
import type { KeyService } from '../../keys/key-service.ts'
import { type Route, route } from '../route.ts'

/** Keys. */
export function keyRoutes(keys: KeyService): readonly Route[] {
  const tag = 'Keys'
  return [
    route({
      method: 'GET',
      path: '/v1/keys',
      operationId: 'listKeys',
      tag,
      summary: 'Lists the keys of the organization, also those that were revoked.',
      answers: { 200: keyListResponse },
      handle: async ({ organizationId }) => ({
        status: 200,
        body: { keys: await keys.list(organizationId) },
      }),
    }),
    route({
      method: 'POST',
      path: '/v1/keys',
      operationId: 'createKey',
      tag,
      summary: 'Makes a key. It is shown this once.',
      body: createKeyRequest,
      answers: { 201: createKeyResponse },
      errors: ['CONFLICT'],
      handle: async ({ organizationId, body }) => ({
        status: 201,
        body: await keys.create(organizationId, body),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/v1/keys/{keyId}',
      operationId: 'revokeKey',
      tag,
      summary: 'Revokes a key at once. The last private key stays.',
      params: { keyId: z.guid().toLowerCase() },
      answers: { 200: okResponse },
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ organizationId, params }) => {
        await keys.revoke(organizationId, params.keyId)
        return { status: 200, body: { status: 'OK' } }
      },
    }),
  ]
}
