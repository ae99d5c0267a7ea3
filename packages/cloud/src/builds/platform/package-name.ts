/** How container build files name the packages of the platform. */
export const PACKAGE_PATTERN = 'botcli*.tgz'

/** Whether that means a file of this name. */
export function isPlatformPackage(name: string): boolean {
  return /^botcli.*\.tgz$/.test(name)
}
