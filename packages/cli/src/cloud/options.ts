import { flag, optional, valued } from '../options/option.ts'
import { parseHost, wholeNumber } from '../run/values.ts'
import { parseFolder, parseName } from './values.ts'

/** Every option of `botcli cloud`. */
export const CLOUD_OPTIONS = {
  host: valued({
    name: 'host',
    argument: 'HOST',
    default: 'localhost',
    help: 'Address to listen on.',
    parse: parseHost,
  }),
  port: valued({
    name: 'port',
    argument: 'PORT',
    default: '7870',
    help: 'Port to listen on; 0 takes any free one.',
    parse: wholeNumber(0, 65535),
  }),
  data: optional({
    name: 'data',
    argument: 'DIR',
    default: 'botcli/cloud in XDG_DATA_HOME, else in ~/.local/share',
    help: 'Folder for everything that the cloud keeps.',
    parse: parseFolder,
  }),
  newOrganization: optional({
    name: 'new-organization',
    argument: 'NAME',
    help: 'Make one more organization, and show its keys. It cannot see what is of others.',
    parse: parseName,
  }),
  newKey: flag({ name: 'new-key', help: 'Make and show one more private key, and sign in with it.' }),
} as const
