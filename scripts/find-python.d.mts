/** Looks for Python 3.11 or newer. */
export function findPython():
  | { readonly path: string; readonly version: string }
  | { readonly problem: string }
