import * as z from 'zod'

/** Where things can be. */
export const regionListResponse = z.strictObject({
  regions: z.array(z.strictObject({ code: z.string(), display_name: z.string() })),
})
export type RegionListResponse = z.infer<typeof regionListResponse>

/** Settings of an organization. */
export const organizationProperties = z.strictObject({ defaultRegion: z.string() })
export type OrganizationProperties = z.infer<typeof organizationProperties>
/** The settings of an organization. */
export const propertiesResponse = z.strictObject({ properties: organizationProperties })
/** Settings that are to be changed. */
export const patchPropertiesRequest = organizationProperties
  .partial()
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    error: 'needs at least one property',
  })

/** What one setting can be. */
export const propertySchema = z.strictObject({
  type: z.string(),
  description: z.string(),
  default: z.string(),
  currentValue: z.string(),
  readOnly: z.boolean(),
  availableValues: z.array(z.string()).optional(),
})
/** What all settings can be. */
export const propertiesSchemaResponse = z.strictObject({ properties: z.record(z.string(), propertySchema) })
export type PropertiesSchemaResponse = z.infer<typeof propertiesSchemaResponse>
