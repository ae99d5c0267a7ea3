import { optional } from '../options/option.ts'
import { PUBLIC_KEY_VARIABLE } from '../remote/credentials.ts'
import { parsePublicKey } from '../remote/public-key.ts'

/** The key that starts sessions. */
export const KEY_OPTION = optional({
  name: 'key',
  argument: 'KEY',
  default: `${PUBLIC_KEY_VARIABLE}, else the stored one`,
  help: 'The public key (pk_…). Where none is known, one is made and stored.',
  parse: parsePublicKey,
})
