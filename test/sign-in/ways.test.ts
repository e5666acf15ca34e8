import { decodeJwt, defineEndpoint } from '@grantry/core'
import type { SignInWays, WayUser } from '@grantry/plugins/sign-in'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { nameOf, setUpSignIn } from './parties.ts'

const door = 'https://id.example.com/connect/door'

/** A way that signs carol in when the browser opens its link. */
const doorWith = (more: Partial<WayUser> = {}): SignInWays => ({
  links: ({ id }) => [{ kind: 'provider', name: 'Door', url: `${door}?id=${id}` }],
  chosen: ({ id, request }) =>
    request.loginHint === 'door' ? { kind: 'provider', name: 'Door', url: `${door}?id=${id}` } : undefined,
  parts: (tools) => [
    defineEndpoint({
      name: 'door',
      path: '/connect/door',
      methods: ['GET'],
      caller: 'anyone',
      params: v.object({ id: v.string() }),
      async handle({ params: { id }, request }, kit) {
        const interaction = await tools.interactions.find(kit, request, id)
        if (interaction === undefined) return tools.expired(request, kit)
        const subject = { sub: 'carol', amr: ['door'], idp: 'door' }
        return tools.signIn({ subject, name: 'Carol', ...more }, interaction)
      },
      presentError: tools.presentError,
    }),
  ],
})
const doorWay = doorWith()

const linkIn = (html: string): string => /"url":"([^"]+)"/u.exec(html)?.[1] ?? ''

describe('another way to sign in', () => {
  test('is a link beside the form, and signs its user in', async () => {
    const { start, redeem } = await setUpSignIn({ ways: [doorWay] })
    const { page, browser, submit } = await start()
    expect(nameOf(page)).toBe('signIn')
    expect(page.html).toContain('"asksForPassword":true')
    const consent = await browser.open(linkIn(page.html))
    expect(nameOf(consent)).toBe('consent')
    const { body } = await redeem(answer(await submit('consent', { decision: 'allow' }, consent)).code)
    expect(decodeJwt(body.id_token)?.claims).toMatchObject({ sub: 'carol', amr: ['door'], idp: 'door' })
  })

  test('is followed without a page if the request asks for it, or if there is no other one', async () => {
    const both = await setUpSignIn({ ways: [doorWay] })
    expect(nameOf((await both.start({ login_hint: 'door' })).page)).toBe('consent')
    const only = await setUpSignIn({ ways: [doorWay], passwords: false })
    expect(nameOf((await only.start()).page)).toBe('consent')
  })

  test('is never followed with prompt=none', async () => {
    const { start } = await setUpSignIn({ ways: [doorWay], passwords: false })
    expect(answer((await start({ prompt: 'none', login_hint: 'door' })).page)).toMatchObject({
      error: 'login_required',
    })
  })

  test('does not serve another browser', async () => {
    const f = await setUpSignIn({ ways: [doorWay] })
    const { page } = await f.start()
    expect(nameOf(await f.browser().open(linkIn(page.html)))).toBe('error')
  })

  test.each([true, false])(
    'does what waits only for a user who was not revoked since the user was found: %s',
    async (isRevoked) => {
      const done: string[] = []
      const way: SignInWays = {
        ...doorWith({ standing: {}, pending: { way: 'door', data: 'a new password' } }),
        name: 'door',
        async proved(data, standing) {
          done.push(data)
          return standing
        },
      }
      const f = await setUpSignIn({ ways: [way] })
      const { page, browser } = await f.start()
      if (isRevoked) await f.provider.revoke({ subject: 'carol' })
      expect(nameOf(await browser.open(linkIn(page.html)))).toBe(isRevoked ? 'signIn' : 'consent')
      expect(done).toEqual(isRevoked ? [] : ['a new password'])
    },
  )

  test('leaves no password to guess, if passwords are off', async () => {
    const second: SignInWays = { ...doorWay, chosen: undefined, parts: () => [] }
    const { start } = await setUpSignIn({ ways: [doorWay, second], passwords: false })
    const { page, enter } = await start()
    expect(page.html).toContain('"asksForPassword":false')
    expect((await enter('alice')).html).toContain('wrong_credentials')
  })
})
