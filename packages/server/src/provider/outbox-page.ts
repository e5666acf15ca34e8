import { escapeHtml, type Handler, htmlHeaders, type Provider, webRuntime } from '@grantry/core'
import type { KeptMail, OutboxMailer } from '@grantry/mail/outbox'
import { accessRefusal } from './console-access.ts'

const style =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.4rem}article{margin:1rem 0;padding:1rem;border:1px solid #8a90a0;border-radius:.5rem;overflow-wrap:anywhere}pre{white-space:pre-wrap;font:inherit;margin:0}h2{font-size:1rem;margin:0}'

const styleHash = `'sha256-${btoa(String.fromCharCode(...webRuntime.sha256(new TextEncoder().encode(style))))}'`

/** Links of the provider can be followed. Links of others are text. */
const withLinks = (text: string, issuer: string): string =>
  escapeHtml(text).replace(/https?:\/\/\S+/gu, (url) =>
    url.startsWith(escapeHtml(`${issuer}/`)) ? `<a href="${url}">${url}</a>` : url,
  )

const shown = ({ to, subject, text, time }: KeptMail, issuer: string): string =>
  `<article><h2>${escapeHtml(subject)}</h2><p>To ${escapeHtml(to)}, <time>${new Date(time).toISOString()}</time></p><pre>${withLinks(text, issuer)}</pre></article>`

const pageOf = (mails: readonly KeptMail[], issuer: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>Outbox</title>
<style>${style}</style></head>
<body><main><h1>Outbox</h1>
<p>This server has no mail server, so its mails arrive here. Set <code>mail</code> in the configuration to send them.</p>
${mails.length === 0 ? '<p id="empty">There are no mails.</p>' : mails.map((mail) => shown(mail, issuer)).join('\n')}
</main></body></html>
`

/** Returns the page with the mails of a development server, for requests of this machine only. */
export function outboxPage(outbox: OutboxMailer, { issuer }: Pick<Provider, 'issuer'>): ReadonlyMap<string, Handler> {
  const headers = { ...htmlHeaders({ style: [styleHash] }, issuer), 'cache-control': 'no-store' }
  const handler: Handler = async (request, connection) =>
    accessRefusal(request, connection, { remote: false, issuer }) ??
    new Response(pageOf(outbox.list(), issuer), { headers })
  // A tenant by path receives only requests below its issuer.
  const base = new URL(issuer).pathname.replace(/\/$/u, '')
  return new Map([...new Set(['/outbox', `${base}/outbox`])].map((path) => [path, handler]))
}
