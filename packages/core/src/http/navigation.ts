/**
 * Whether a browser opens the URL of this request as a page: it asks for HTML before everything else. Programs do not, except
 * some that send a list of image types after it, and those get what programs get.
 */
export function isNavigation({ method, headers }: Pick<Request, 'method' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const accept = headers.get('accept') ?? ''
  if (accept !== 'text/html' && !accept.startsWith('text/html,application/xhtml+xml,')) return false
  const mode = headers.get('sec-fetch-mode')
  return mode === null || mode === 'navigate'
}
