import { flag, valued } from '../options/option.ts'
import { wholeNumber } from '../run/values.ts'

/** Every option of `botcli doctor`. */
export const DOCTOR_OPTIONS = {
  port: valued({
    name: 'port',
    argument: 'N',
    default: '7860',
    help: 'The port that "botcli run" will be given.',
    parse: wholeNumber(1, 65_535),
  }),
  json: flag({ name: 'json', help: 'Print what was found as JSON.' }),
} as const
