import {
  okResponse,
  putSecretsRequest,
  putSecretsResponse,
  secretKeyName,
  secretSetListResponse,
  secretSetName,
  secretSetResponse,
} from '@botcli/protocol/cloud'
import type { SecretService } from '../../secrets/secret-service.ts'
import { type Route, route } from '../route.ts'

/** More than an organization can have in all, as JSON may spell it. */
const MAX_PUT_BYTES = 8 * 1024 * 1024

/** Secrets. */
export function secretRoutes(secrets: SecretService): readonly Route[] {
  const tag = 'Secrets'
  const path = '/v1/secrets/{setName}'
  const params = { setName: secretSetName }
  const ok = { status: 200, body: { status: 'OK' } }
  return [
    route({
      method: 'GET',
      path: '/v1/secrets',
      operationId: 'listSecretSets',
      tag,
      summary: 'Lists the secret sets.',
      answers: { 200: secretSetListResponse },
      handle: async ({ organizationId }) => ({ status: 200, body: await secrets.list(organizationId) }),
    }),
    route({
      method: 'GET',
      path,
      operationId: 'getSecretSet',
      tag,
      summary: 'Gives the names in a secret set. Values never leave.',
      params,
      answers: { 200: secretSetResponse },
      errors: ['NOT_FOUND'],
      handle: async ({ organizationId, params: { setName } }) => ({
        status: 200,
        body: await secrets.get(organizationId, setName),
      }),
    }),
    route({
      method: 'PUT',
      path,
      operationId: 'upsertSecretSet',
      tag,
      summary: 'Merges values into a secret set, all or none of them.',
      params,
      body: putSecretsRequest,
      maxBodyBytes: MAX_PUT_BYTES,
      answers: { 202: putSecretsResponse },
      errors: ['CONFLICT'],
      handle: async ({ organizationId, params: { setName }, body }) => ({
        status: 202,
        body: { status: 'OK', region: await secrets.put(organizationId, setName, body) },
      }),
    }),
    route({
      method: 'DELETE',
      path,
      operationId: 'deleteSecretSet',
      tag,
      summary: 'Removes a secret set that no agent needs.',
      params,
      answers: { 200: okResponse },
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ organizationId, params: { setName } }) => {
        await secrets.remove(organizationId, setName)
        return ok
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/{secretKey}`,
      operationId: 'deleteSecretFromSet',
      tag,
      summary: 'Removes one secret of a set.',
      params: { ...params, secretKey: secretKeyName },
      answers: { 200: okResponse },
      errors: ['NOT_FOUND'],
      handle: async ({ organizationId, params: { setName, secretKey } }) => {
        await secrets.removeSecret(organizationId, setName, secretKey)
        return ok
      },
    }),
  ]
}
