import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { clientPaths, createClient } from './client.ts'
import { createGrantry } from './grantry.ts'

const issuer = 'http://127.0.0.1:3000'
const password = 'the password of this test'
const env = {
  ISSUER: issuer,
  GRANTRY_KEY_SECRET: 'a secret with 32 characters, for this test',
  CLIENT_SECRET: 'the secret of the client in this test',
  ALICE_PASSWORD: password,
}

interface Page {
  readonly status: number
  readonly url: URL
  readonly html: string
}

/** A browser without scripts: it has cookies, follows redirects, and sends the form of a page. */
function createBrowser(fetch: (request: Request) => Promise<Response>) {
  const cookies = new Map<string, string>()

  async function open(url: URL, form?: Record<string, string>): Promise<Page> {
    const request = new Request(url, {
      headers: { cookie: [...cookies].map((cookie) => cookie.join('=')).join('; ') },
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
    })
    const response = await fetch(request)
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(cookie) ?? []
      if (/Max-Age=0/iu.test(cookie)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location !== null) return open(new URL(location, url))
    return { status: response.status, url, html: await response.text() }
  }

  function submit({ html, url }: Page, fields: Record<string, string>): Promise<Page> {
    const [, action = ''] = /<form[^>]* action="([^"]*)"/u.exec(html) ?? []
    const hidden = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/gu)]
    const form = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, plain(value)]))
    return open(new URL(plain(action), url), { ...form, ...fields })
  }

  const plain = (text: string) =>
    text
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll(/&(?:quot|#34);/gu, '"')
      .replaceAll('&amp;', '&')

  return { open: (path: string) => open(new URL(path, issuer)), submit }
}

test('alice signs in, and not with another password', async () => {
  const provider = await createGrantry(env, { storage: memoryDriver() })
  const client = createClient(provider, env.CLIENT_SECRET)
  const browser = createBrowser((request) =>
    clientPaths.includes(new URL(request.url).pathname) ? client(request) : provider.fetch(request),
  )

  const form = await browser.open('/sign-in')
  const refused = await browser.submit(form, { username: 'alice', password: 'another password' })
  assert.notEqual(refused.url.pathname, '/callback')
  const page = await browser.submit(refused, { username: 'alice', password })
  assert.equal(page.url.pathname, '/callback')
  assert.match(page.html, /Signed in as Alice/u)
  await provider.close()
})
