import { describe, expect, test } from 'vitest'
import { answer, type Page } from './browser.ts'
import { nameOf, ownPages, setUpPages } from './own-pages.ts'
import { alice, request } from './parties.ts'

const isCode = { code: expect.any(String), state: request.state }

const idOf = ({ html }: Page): string => /name="interaction" value="([\w-]{43})"/u.exec(html)?.[1] ?? ''

async function waiting() {
  const f = await setUpPages()
  const user = f.browser()
  const page = await f.ask(user)
  const resumeUrl = `${f.provider.issuer}/connect/authorize/resume?interaction=${idOf(page)}`
  return { ...f, user, page, resumeUrl, resume: () => user.open(resumeUrl) }
}

describe('an interaction', () => {
  test('11.24 an interaction can be left and resumed in the same browser', async () => {
    const { user, page, resume, submit } = await waiting()
    expect(nameOf(await resume())).toBe('sign-in')
    expect(answer(await submit(user, page, { username: 'alice' }))).toMatchObject(isCode)
  })

  test('11.24 the cookie of the browser is for this host only, and for no script', async () => {
    const { ask, browser } = await waiting()
    const { headers } = await ask(browser())
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-grantry-browser=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/u),
    ])
  })

  test('11.24 requests in several tabs do not disturb each other', async () => {
    const { user, page, ask, submit } = await waiting()
    const secondPage = await ask(user, { state: 'second' })
    expect(answer(await submit(user, page, { username: 'alice' })).state).toBe(request.state)
    expect(answer(await submit(user, secondPage, { username: 'alice' })).state).toBe('second')
  })

  test('11.24 an interaction gets one response', async () => {
    const { user, page, submit, resume } = await waiting()
    await submit(user, page, { username: 'alice' })
    const again = await resume()
    expect([again.status, again.headers.get('location')]).toEqual([400, null])
    expect(again.html).toContain('plugin:authorization-endpoint:interaction_unknown')
  })

  test('11.24 a refusal is a response too', async () => {
    const { user, page, submit, resume } = await waiting()
    const refused = await submit(user, page, { refuse: 'access_denied' })
    expect(answer(refused)).toMatchObject({ error: 'access_denied', state: request.state })
    expect((await resume()).status).toBe(400)
  })

  test('11.24 of 20 concurrent answers, one gets a code', async () => {
    let decides = false
    const f = await setUpPages({}, {}, (interaction) =>
      decides ? { subject: alice, scopes: interaction.request.scopes, trusted: true } : ownPages.interact(interaction),
    )
    const user = f.browser()
    const id = idOf(await f.ask(user))
    decides = true
    const url = `${f.provider.issuer}/connect/authorize/resume?interaction=${id}`
    const pages = await Promise.all(Array.from({ length: 20 }, () => user.open(url)))
    expect(pages.filter((page) => answer(page).code !== undefined)).toHaveLength(1)
    const others = pages.filter((page) => answer(page).code === undefined)
    expect(others.every(({ status, url: { searchParams } }) => status === 400 || searchParams.has('error'))).toBe(true)
  })

  test('11.24 expires after the lifetime', async () => {
    const { resume, clock } = await waiting()
    clock.advance(1799)
    expect(nameOf(await resume())).toBe('sign-in')
    clock.advance(1)
    expect((await resume()).html).toContain('interaction_unknown')
  })

  test.each(['', 'x', 'x'.repeat(43), '../../session', '%00', `${'x'.repeat(43)}%0d%0aA:b`])(
    '11.24 shows a page for the unknown id %j',
    async (id) => {
      const { user, provider } = await waiting()
      const page = await user.open(`${provider.issuer}/connect/authorize/resume?interaction=${id}`)
      expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    },
  )

  test('11.24 the client of a waiting request that no longer exists gets nothing', async () => {
    let enabled = true
    const f = await setUpPages({}, { clients: { find: () => (enabled ? client : undefined) } as never })
    const user = f.browser()
    const page = await f.ask(user)
    enabled = false
    const resumed = await user.open(`${f.provider.issuer}/connect/authorize/resume?interaction=${idOf(page)}`)
    expect([resumed.status, resumed.headers.get('location')]).toEqual([400, null])
  })
})

const client = {
  clientId: request.client_id,
  secrets: [{ sha256: 'YTFhYTFhYTFhYTFhYTFhYTFhYTFhYTFhYTFhYTFhYTE=' }],
  grantTypes: ['authorization_code'],
  scopes: ['openid', 'api1'],
  redirectUris: [request.redirect_uri],
}
