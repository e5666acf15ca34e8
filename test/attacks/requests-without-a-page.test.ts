/**
 * Attack: a page of the attacker contains a thousand images, scripts or frames with the URL of the authorization endpoint.
 * Each begins a sign-in that no user sees, until the address of the visitor, which can be that of a whole company, has no
 * place left for the sign-ins of its users.
 *
 * Fetch Metadata Request Headers, W3C; decision 106.
 */
import { createPages } from '@grantry/pages'
import { describe, expect, test } from 'vitest'
import { request } from '../authorization/parties.ts'
import { setUpSignIn } from '../sign-in/parties.ts'

const pages = createPages()

async function setUp(sameSite: 'lax' | 'none' = 'lax') {
  const waitingRequests = { total: 10, perAddress: 1 }
  const f = await setUpSignIn({ pages }, { abuseControl: { waitingRequests } }, { pages, sessions: { sameSite } })
  /** Sends what a browser sends for an element of a page, or for a navigation. */
  const load = (site?: string, destination?: string, more = {}) => {
    const headers = {
      ...(site !== undefined && { 'sec-fetch-site': site }),
      ...(destination !== undefined && { 'sec-fetch-dest': destination }),
    }
    const url = f.urlOf({ ...request, ...more })
    return f.provider.fetch(new Request(url, { headers }), { clientAddress: '192.0.2.1' })
  }
  return { ...f, load }
}

describe('a request of another site that no page is shown for', () => {
  test.each([
    ['cross-site', 'image'],
    ['cross-site', 'script'],
    ['cross-site', 'style'],
    ['cross-site', 'video'],
    // fetch(), and <link rel="prefetch">.
    ['cross-site', 'empty'],
    // Its cookie would be missing when the form is sent.
    ['cross-site', 'iframe'],
    ['cross-site', 'object'],
    ['same-site', 'image'],
    ['same-site', 'empty'],
  ])('takes no place of those that wait: %s, %s', async (site, destination) => {
    const { load, events } = await setUp()
    for (let count = 0; count < 20; count += 1) {
      const refused = await load(site, destination)
      expect([refused.status, refused.headers.get('location')]).toEqual([400, null])
    }
    expect(events.map((event) => 'reason' in event && event.reason)).toContain(
      'plugin:authorization-endpoint:no_page_shown',
    )
    expect((await load('cross-site', 'document')).status).toBe(200)
  })

  test('is a frame only with SameSite=Lax: with None, its user can sign in', async () => {
    const { load } = await setUp('none')
    expect((await load('cross-site', 'image')).status).toBe(400)
    expect((await load('cross-site', 'iframe')).status).toBe(200)
  })
})

describe('a browser that shows the page is not refused', () => {
  test.each([
    // Without TLS, and in older browsers and embedded ones, the headers are missing.
    [undefined, undefined],
    ['cross-site', undefined],
    [undefined, 'image'],
    // A typed address, a bookmark, another application.
    ['none', 'document'],
    // A link, a redirect, a form, a prerendered page.
    ['cross-site', 'document'],
    ['same-site', 'document'],
    // A service worker of the own host repeats a navigation by fetch().
    ['same-origin', 'empty'],
    ['same-site', 'iframe'],
    // A destination that the future adds.
    ['cross-site', 'hologram'],
  ])('%s, %s', async (site, destination) => {
    const { load } = await setUp()
    expect((await load(site, destination)).status).toBe(200)
  })

  test('a silent request in a frame gets its answer', async () => {
    const { load } = await setUp()
    const { status, headers } = await load('cross-site', 'iframe', { prompt: 'none' })
    expect([status, new URL(headers.get('location') ?? '').searchParams.get('error')]).toEqual([303, 'login_required'])
  })
})
