import type {
  OrganizationProperties,
  PropertiesSchemaResponse,
  RegionListResponse,
} from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'
import type { Store } from '../store/store.ts'

/** Regions of the cloud, and settings of organizations. */
export class SettingsService {
  readonly #store: Store
  readonly #regions: RegionListResponse['regions']

  constructor(store: Store, regions: RegionListResponse['regions']) {
    this.#store = store
    this.#regions = regions
  }

  regions(): RegionListResponse {
    return { regions: this.#regions }
  }

  /** The region itself, if there is one of that code. */
  region(code: string, field = 'region'): string {
    if (this.#regions.some((region) => region.code === code)) return code
    const allowed = this.#codes().join(', ')
    throw new CloudError('INVALID_REQUEST', `${field}: there is no such region. Allowed: ${allowed}.`)
  }

  /** The region that an organization has chosen, if it is still there, or else the first one. */
  async defaultRegion(organizationId: string): Promise<string> {
    const organization = await this.#store.organizations.get(organizationId)
    const codes = this.#codes()
    const chosen = codes.find((code) => code === organization?.defaultRegion)
    return chosen ?? this.firstRegion
  }

  get firstRegion(): string {
    const [first] = this.#codes()
    if (first === undefined) throw new Error('There is no region.')
    return first
  }

  async properties(organizationId: string): Promise<OrganizationProperties> {
    return { defaultRegion: await this.defaultRegion(organizationId) }
  }

  async change(organizationId: string, changes: Partial<OrganizationProperties>): Promise<void> {
    if (changes.defaultRegion === undefined) return
    const region = this.region(changes.defaultRegion, 'defaultRegion')
    await this.#store.organizations.setDefaultRegion(organizationId, region)
  }

  async schema(organizationId: string): Promise<PropertiesSchemaResponse> {
    return {
      properties: {
        defaultRegion: {
          type: 'string',
          description: 'The region of what is made without naming one.',
          default: this.firstRegion,
          currentValue: await this.defaultRegion(organizationId),
          readOnly: false,
          availableValues: this.#codes(),
        },
      },
    }
  }

  #codes(): string[] {
    return this.#regions.map(({ code }) => code)
  }
}
