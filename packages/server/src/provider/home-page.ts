import { escapeHtml, type Handler, htmlHeaders, type Provider, webRuntime } from '@grantry/core'

const style =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}h1{font-size:1.4rem}'

const styleHash = `'sha256-${btoa(String.fromCharCode(...webRuntime.sha256(new TextEncoder().encode(style))))}'`

/** The page contains only what the discovery document contains: no version, no clients, no users. */
const pageOf = (issuer: string, discovery: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>Sign-in server</title>
<style>${style}</style></head>
<body><main><h1>This server signs users in for applications</h1>
<p id="user">There is nothing to do here. To sign in, open the application that you want to use.</p>
<p id="developer">Are you developing one? This is an OAuth 2.0 and OpenID Connect server. Configure a library with the issuer
<code>${escapeHtml(issuer)}</code>: it finds the rest in the <a href="${escapeHtml(discovery)}">discovery document</a>.</p>
</main></body></html>
`

/** Returns the page at the URL of the issuer, by its paths. An endpoint has none of them: its path is a longer one. */
export function homePage({ issuer, paths }: Pick<Provider, 'issuer' | 'paths'>): ReadonlyMap<string, Handler> {
  const { origin, pathname } = new URL(issuer)
  const { discovery } = paths
  if (discovery === undefined) return new Map()
  const html = pageOf(issuer, `${origin}${discovery}`)
  const headers = htmlHeaders({ style: [styleHash] }, issuer)
  const handler: Handler = async ({ method }) => {
    if (method !== 'GET' && method !== 'HEAD')
      return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } })
    return new Response(method === 'HEAD' ? null : html, { headers })
  }
  const base = pathname.replace(/\/$/u, '')
  const pathsOfPage = base === '' ? ['/'] : ['/', `${base}/`, base]
  return new Map(pathsOfPage.map((path) => [path, handler]))
}
