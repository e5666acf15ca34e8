/**
 * Attack: two issuers share a domain, such as two tenants of one host. The passkey of a user of one replaces the one of the
 * user with the same `sub` at the other on the device, or the pages of one let the browser remove passkeys of the other: a
 * device has one passkey for a domain and a user handle, and WebAuthn's signal methods name no issuer.
 *
 * WebAuthn Level 3 sections 5.1.10 and 5.4.3; decision 165.
 */
import { describe, expect, test } from 'vitest'
import { accountUri, linksTo } from '../account/parties.ts'
import { addUri, challengeIn, optionsIn, setUpPasskeys } from '../account/passkeys.ts'
import { hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'

const host = 'https://id.example.com'

const signalsIn = ({ html }: Pick<Page, 'html'>) =>
  JSON.parse(unescapeHtml(/data-signals="([^"]*)"/u.exec(html)?.[1] ?? '{}'))
const unknownIn = ({ html }: Pick<Page, 'html'>) => /data-unknown="([^"]*)"/u.exec(html)?.[1]

/** An issuer, and the user handle of `alice` there. */
async function setUpIssuer(issuer: string) {
  const f = await setUpPasskeys({ issuer })
  const browser = f.browser()
  const login = await browser.open(`${issuer}/account/passkeys/add`)
  const form = { ...hiddenFields(login), username: 'alice', password: 'alice-password' }
  const page = await browser.submit(`${issuer}/connect/signin`, form)
  /** Signs in with a passkey in another browser, and returns the page. */
  async function useOf(device: ReturnType<typeof createAuthenticator>, userHandle: string | undefined) {
    const otherBrowser = f.browser()
    const asked = await otherBrowser.open(`${issuer}/account`)
    const response = JSON.parse(device.respond(challengeIn(asked)))
    const credential = JSON.stringify({ ...response, response: { ...response.response, userHandle } })
    return otherBrowser.submit(`${issuer}/connect/signin`, { ...hiddenFields(asked), credential })
  }
  return { ...f, options: optionsIn(page), useOf }
}

describe('issuers of one domain', () => {
  test('have different user handles for one sub, and names of the service', async () => {
    const issuers = [host, `${host}/t/acme`, `${host}/t/beta`, `${host}:8443`]
    const all = await Promise.all(issuers.map(async (issuer) => (await setUpIssuer(issuer)).options))
    expect(new Set(all.map(({ user }) => user.id)).size).toBe(4)
    expect(all.map(({ rp }) => rp.name)).toEqual([
      'id.example.com',
      'id.example.com/t/acme',
      'id.example.com/t/beta',
      'id.example.com:8443',
    ])
    // The list of a device shows neither the path nor the port.
    expect(all.map(({ user }) => [user.name, user.displayName])).toEqual([
      ['alice', 'alice'],
      ['alice', 'alice (id.example.com/t/acme)'],
      ['alice', 'alice (id.example.com/t/beta)'],
      ['alice', 'alice (id.example.com:8443)'],
    ])
    for (const { user, rp } of all) {
      expect([rp.id, Buffer.from(user.id, 'base64url').length]).toEqual(['id.example.com', 47])
      expect(Buffer.from(user.id, 'base64url').toString('base64url')).toBe(user.id)
      expect(Buffer.from(user.id, 'base64url').toString()).not.toContain('alice')
    }
  })

  test('report an unknown passkey as such only if it was one of theirs', async () => {
    const [acme, beta] = await Promise.all([setUpIssuer(`${host}/t/acme`), setUpIssuer(`${host}/t/beta`)])
    const device = createAuthenticator()
    const asked = async (userHandle: string | undefined) => unknownIn(await acme.useOf(device, userHandle))
    expect(await asked(acme.options.user.id)).toBe(device.credentialId)
    expect(await asked(beta.options.user.id)).toBeUndefined()
    expect(await asked(undefined)).toBeUndefined()
    expect(await asked('')).toBeUndefined()
    // A handle of an earlier version does not name the issuer.
    expect(await asked(acme.options.user.id.slice(20))).toBeUndefined()
  })

  test('a passkey that is known, but whose response is not valid, is never reported', async () => {
    const { useOf, options, signedIn, enrol } = await setUpIssuer(host)
    await enrol((await signedIn()).browser, createAuthenticator())
    const refused = await useOf(createAuthenticator(), options.user.id)
    expect([refused.html.includes('id="problem"'), unknownIn(refused)]).toEqual([true, undefined])
  })
})

test('a user sees all own passkeys, and never those of another user, in the list for the browser', async () => {
  const { signedIn, enrol, send } = await setUpPasskeys()
  const [alice, bob] = [await signedIn(), await signedIn('bob')]
  const passkey = createAuthenticator('YWxpY2U')
  const added = await enrol(alice.browser, passkey)
  await enrol(bob.browser, createAuthenticator('Ym9i'))
  const { user } = optionsIn(await alice.browser.open(addUri))
  expect(signalsIn(added)).toEqual({
    rpId: 'id.example.com',
    userId: user.id,
    name: 'alice',
    displayName: 'alice',
    credentialIds: ['YWxpY2U'],
  })
  const signalsOfBob = signalsIn(await bob.browser.open(accountUri))
  expect([signalsOfBob.userId === user.id, signalsOfBob.credentialIds]).toEqual([false, ['Ym9i']])
  const [remove = ''] = linksTo(added, 'passkeys/').filter((url) => url.endsWith('/remove'))
  expect(signalsIn(await send(alice.browser, await alice.browser.open(remove))).credentialIds).toEqual([])
})
