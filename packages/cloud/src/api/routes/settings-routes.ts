import {
  patchPropertiesRequest,
  propertiesResponse,
  propertiesSchemaResponse,
  regionListResponse,
} from '@botcli/protocol/cloud'
import type { SettingsService } from '../../settings/settings-service.ts'
import { type Route, route } from '../route.ts'

/** Regions and settings of the organization. */
export function settingsRoutes(settings: SettingsService): readonly Route[] {
  const tag = 'Organization'
  return [
    route({
      method: 'GET',
      path: '/v1/regions',
      operationId: 'listRegions',
      tag,
      summary: 'Lists the regions.',
      answers: { 200: regionListResponse },
      handle: async () => ({ status: 200, body: settings.regions() }),
    }),
    route({
      method: 'GET',
      path: '/v1/properties',
      operationId: 'getProperties',
      tag,
      summary: 'Gives the settings of the organization.',
      answers: { 200: propertiesResponse },
      handle: async ({ organizationId }) => ({
        status: 200,
        body: { properties: await settings.properties(organizationId) },
      }),
    }),
    route({
      method: 'PATCH',
      path: '/v1/properties',
      operationId: 'updateProperties',
      tag,
      summary: 'Changes settings of the organization.',
      body: patchPropertiesRequest,
      answers: { 200: propertiesSchemaResponse },
      handle: async ({ organizationId, body }) => {
        const { defaultRegion } = body
        await settings.change(organizationId, defaultRegion === undefined ? {} : { defaultRegion })
        return { status: 200, body: await settings.schema(organizationId) }
      },
    }),
    route({
      method: 'GET',
      path: '/v1/properties/schema',
      operationId: 'getPropertiesSchema',
      tag,
      summary: 'Says which settings there are and what they can be.',
      answers: { 200: propertiesSchemaResponse },
      handle: async ({ organizationId }) => ({ status: 200, body: await settings.schema(organizationId) }),
    }),
  ]
}
