/**
 * Attack: another machine, a page of another site or a page under a name that the attacker points at this machine reads
 * the mails of a development server, with their links; a mail contains markup, or a link to another host.
 */
import { outboxMailer } from '@grantry/mail/outbox'
import { describe, expect, test } from 'vitest'
import { outboxPage } from '../../packages/server/src/provider/outbox-page.ts'

const issuer = 'http://127.0.0.1:8484'

async function read(headers: Readonly<Record<string, string>> = {}, clientAddress = '127.0.0.1', method = 'GET') {
  const outbox = outboxMailer()
  const text = `<script>x</script> ${issuer}/connect/mailed?a="b ${issuer}.evil.example/a javascript:x https://evil.example/`
  await outbox.send({ to: 'a<b@example.com'.replace('<', '%3C'), subject: '<img src=x>', text, html: '<script>' })
  const handler = outboxPage(outbox, { issuer }).get('/outbox')
  const request = new Request(`${issuer}/outbox`, { method, headers: { host: '127.0.0.1:8484', ...headers } })
  const response = (await handler?.(request, { clientAddress })) as Response
  return { response, body: await response.text() }
}

describe('the mails of a development server are not shown', () => {
  test.each<[string, Readonly<Record<string, string>>, clientAddress?: string, method?: string]>([
    ['under a name of the attacker', { host: 'evil.example:8484' }],
    ['under a name that begins like that of this machine', { host: '127.0.0.1.evil.example' }],
    ['under a name with a user', { host: '127.0.0.1:8484@evil.example' }],
    ['to another machine', {}, '203.0.113.1'],
    ['to another machine that claims to be this one', { 'x-forwarded-for': '127.0.0.1' }, '203.0.113.1'],
    ['through a proxy', { 'x-forwarded-for': '203.0.113.1' }],
    ['through a proxy that names the host', { 'x-forwarded-host': 'evil.example' }],
    ['to a page of another site', { 'sec-fetch-site': 'cross-site' }],
    ['to a page at another port', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:9999' }],
    ['to a page of an old browser', { origin: 'null' }],
    ['to a form', {}, '127.0.0.1', 'POST'],
  ])('%s', async (_, headers, clientAddress, method) => {
    const { response, body } = await read(headers, clientAddress, method)
    expect([403, 405]).toContain(response.status)
    expect(body).not.toContain('connect/mailed')
  })
})

test('mails on the page are text, and only links of the provider are links', async () => {
  const { response, body } = await read()
  expect(response.status).toBe(200)
  expect(body).not.toMatch(/<script|<img/u)
  expect([...body.matchAll(/href="([^"]*)"/gu)].map(([, url]) => url)).toEqual([`${issuer}/connect/mailed?a=&#34;b`])
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
})
