import { dirname } from 'node:path'

/** The folder of this package. This file lies in it as deep as the code that is built of it, so both find the same. */
export const PACKAGE_ROOT = dirname(import.meta.dirname)
