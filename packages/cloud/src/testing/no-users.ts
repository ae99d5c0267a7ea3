import type { SecretUsers } from '../secrets/secret-service.ts'

/** Nobody needs any secrets. */
export const NO_USERS: SecretUsers = { changed: async () => {} }
