/**
 * A client of the provider wants the scopes of a user of a Next.js site without asking. It sends a form to the route of
 * `authorizeRoute()` from its own page, with the decision of the user in it: clients may send authorization requests by POST.
 * Or the user of the browser changes while the page for consent of another user is open.
 */
import { describe, expect, test } from 'vitest'
import { createSite, issuer } from '../next/site.ts'

const consent = 'https://site.example.com/consent'
const { origin } = new URL(issuer)
const decision = { user: 'alice', decision: 'allow' }

async function signedIn() {
  const site = await createSite()
  site.site.user = { sub: 'alice', amr: ['pwd'], authTime: site.now() }
  return { ...site, query: (await site.open()).query }
}

describe('a decision that the user has not made on the page of the site', () => {
  test.each([
    ['of another site', decision, { origin: 'https://client.example.com', 'sec-fetch-site': 'cross-site' }],
    ['of a sibling site', decision, { origin: 'https://app.example.com', 'sec-fetch-site': 'same-site' }],
    ['of a page without an origin', decision, { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['of a program that states no origin', decision, {}],
    ['on a host whose name starts like that of the site', decision, { origin: `${origin}.evil.example` }],
    ['of the same host without TLS', decision, { origin: origin.replace('https:', 'http:') }],
    ['for another user', { ...decision, user: 'bob' }, { origin }],
    ['for no user', { decision: 'allow' }, { origin }],
    ['with another word', { ...decision, decision: 'yes' }, { origin }],
  ])('is not counted: %s', async (_whose, fields, headers) => {
    const { decide, open, query } = await signedIn()
    expect(await decide(query, fields, headers)).toMatchObject({ page: consent, code: undefined })
    expect((await open()).page).toBe(consent)
  })

  test('is not counted in a query', async () => {
    const { reopen, query } = await signedIn()
    expect((await reopen(`${query}&${new URLSearchParams(decision)}`)).page).toBe(consent)
  })

  test('does not arrive at the pages of the site, whose forms would repeat it', async () => {
    const { site, open, decide, query } = await signedIn()
    const { query: shown } = await decide(query, decision, { origin: 'https://client.example.com' })
    site.user = undefined
    for (const text of [shown, (await open(decision)).query]) {
      const names = [...new URLSearchParams(text).keys()]
      expect(names).toContain('client_id')
      expect(names.filter((name) => name in decision)).toEqual([])
    }
  })

  test.each([
    ['the origin', { origin }],
    ['Sec-Fetch-Site, where a policy hides the origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
  ])('control: a form of the site is known by %s', async (_by, headers) => {
    const { decide, query } = await signedIn()
    expect((await decide(query, decision, headers)).code).toMatch(/./u)
  })
})
