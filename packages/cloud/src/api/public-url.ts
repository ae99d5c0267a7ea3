type Headers = NodeJS.Dict<string | string[]>

/**
 * The address by which whoever sent a request reaches this cloud. Headers of a proxy are believed: they can only mislead the one who sent
 * them.
 */
export function publicOrigin(headers: Headers, fallbackHost: string, configured: string | undefined): string {
  if (configured !== undefined) return configured.replace(/\/+$/, '')
  const scheme = first(headers['x-forwarded-proto'])?.toLowerCase() === 'https' ? 'https' : 'http'
  const host = first(headers['x-forwarded-host']) ?? first(headers.host) ?? fallbackHost
  const origin = `${scheme}://${host}`
  return URL.canParse(origin) && /^[\w.:[\]-]+$/.test(host)
    ? new URL(origin).origin
    : `http://${fallbackHost}`
}

/** Each proxy adds a value; the first one is nearest to the client. */
function first(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header
  const value = text?.split(',')[0]?.trim()
  return value === '' ? undefined : value
}
