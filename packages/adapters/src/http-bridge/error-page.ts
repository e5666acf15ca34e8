/** The headers of the page of a refusal: nothing is loaded, framed or stored. */
export const errorPageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

/**
 * Whether a browser shows the response to its user, because it has opened the URL, or sent a form: browsers ask for HTML
 * before everything else then.
 *
 * @param header returns a header of the request
 */
export function isForUser(header: (name: string) => string | null | undefined): boolean {
  const accept = header('accept') ?? ''
  const mode = header('sec-fetch-mode') ?? 'navigate'
  return mode === 'navigate' && (accept === 'text/html' || accept.startsWith('text/html,application/xhtml+xml,'))
}

/** The page of a refusal, in the only language that is certain to be loaded. It contains nothing of the request. */
export const errorPage = (error: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>This page cannot be shown now</title></head>
<body><main><h1>This page cannot be shown now</h1><p>Wait a moment, go back, and try again.</p><p><code>${error}</code></p></main></body></html>
`
