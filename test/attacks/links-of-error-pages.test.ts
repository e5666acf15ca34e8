/**
 * Attack: a link to the provider leads, by the button of its error page, to a site of the attacker: an open redirect with the
 * name of the provider. Only addresses that are registered for a known client are links.
 */
import { createPages } from '@grantry/pages'
import { signIn } from '@grantry/plugins/sign-in'
import { describe, expect, test } from 'vitest'
import { returnLink } from '../authorization/browser.ts'
import { clients, setUp } from '../authorization/parties.ts'

const issuer = 'https://id.example.com'
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

describe('the page of a refusal', () => {
  const open = async (client: object) => {
    const pages = createPages({ locales: ['en'] })
    const registered = { ...clients.find(({ clientId }) => clientId === 'spa'), clientId: 'own', ...client }
    return setUp(
      signIn({ pages }),
      { pages },
      {
        clients: [...clients, registered as (typeof clients)[number]],
        users: { authenticate: () => undefined },
      },
    )
  }

  test.each<[string, object, string | undefined]>([
    [
      'the page that begins a sign-in',
      { initiateLoginUri: 'https://app.example/login', redirectUris: ['https://app.example/cb'] },
      'https://app.example/login',
    ],
    [
      'the home page',
      { clientUri: 'https://app.example/', redirectUris: ['https://app.example/cb'] },
      'https://app.example/',
    ],
    ['the host of the redirect URI', { redirectUris: ['https://app.example/cb?x=1'] }, 'https://app.example'],
    [
      'a program on the device, by its own scheme',
      { redirectUris: ['http://127.0.0.1/cb', 'com.example.app:/cb'] },
      'com.example.app:/cb',
    ],
    ['nothing, if there are only addresses of this device', { redirectUris: ['http://127.0.0.1/cb'] }, undefined],
  ])('leads to %s, as it is registered', async (_, client, link) => {
    const f = await open(client)
    const query = { client_id: 'own', redirect_uri: 'https://evil.example/cb', response_type: 'code', scope: 'openid' }
    const page = await f.browser().open(f.urlOf(query))
    expect(page.status).toBe(400)
    expect(page.html).not.toContain('evil.example')
    const shown = returnLink(page)
    expect(shown === undefined ? undefined : shown.href.replace(/\/$/u, '')).toBe(link?.replace(/\/$/u, ''))
  })

  test('leads nowhere for an unknown client, or a repeated one', async () => {
    const f = await open({ redirectUris: ['https://app.example/cb'] })
    for (const clientId of ['https://evil.example/client', 'evil', '']) {
      const page = await f.browser().open(f.urlOf({ client_id: clientId, redirect_uri: 'https://evil.example/cb' }))
      expect([page.status, returnLink(page), page.html.includes('evil.example')]).toEqual([400, undefined, false])
    }
  })

  test('after an expired form leads to the registered address, whatever the form names', async () => {
    const f = await open({ clientUri: 'https://app.example/' })
    const restart = new URLSearchParams({
      client_id: 'own',
      redirect_uri: 'https://evil.example/cb',
      client_uri: 'https://evil.example/',
    })
    const form = { interaction: 'unknown', request: restart.toString(), username: 'alice', password: 'x' }
    const page = await f.browser().submit(`${issuer}/connect/signin`, form)
    expect(page.status).toBe(400)
    expect(returnLink(page)?.href).toBe('https://app.example/')
    const links = [...page.html.matchAll(/(?:href|action|src)="([^"]*)"/gu)].map(([, url = '']) => new URL(url).origin)
    expect(links.filter((origin) => origin !== issuer && origin !== 'https://app.example')).toEqual([])
  })
})

test.each([
  '/%22%3E%3Cscript%3Ealert(1)%3C/script%3E',
  '//evil.example/x',
  '/\\evil.example',
  '/nothing?client_id=own&redirect_uri=https://evil.example/',
  '/nothing?returnTo=https://evil.example/#https://evil.example/',
  '/connect/token?client_id=https://evil.example/client',
])('the page for %j repeats nothing of it, and fetches no document', async (path) => {
  const pages = createPages({ locales: ['en'] })
  const lookedUp: string[] = []
  const f = await setUp(
    signIn({ pages }),
    { pages },
    {
      clients: {
        find(id: string) {
          lookedUp.push(id)
          return undefined
        },
      },
      users: { authenticate: () => undefined },
    },
  )
  const response = await f.provider.fetch(new Request(`${issuer}${path}`, { headers: { accept } }))
  const html = await response.text()
  expect([404, 405]).toContain(response.status)
  expect(html).toContain('<h1>Page not found</h1>')
  for (const text of ['evil', 'alert(1)', 'nothing', 'client_id']) expect(html).not.toContain(text)
  expect(response.headers.get('location')).toBeNull()
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(lookedUp).toEqual([])
})
