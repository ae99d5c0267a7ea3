/** Gets the library ready, once for this machine; or says why that is not possible. */
export function setUpPipecat(
  signal?: AbortSignal,
): Promise<{ readonly python: string; readonly version: string } | { readonly skipped: string }>
