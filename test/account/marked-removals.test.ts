// A removal that asks after its mark: what it removes does not count meanwhile, and comes back only as it was.
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { expect, test } from 'vitest'
import { insertLink, listLinks, removeLink } from '../../plugins/upstream/links.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { kitOf, offerKit } from '../support/kit-of.ts'
import { codeAt, encryptionSecrets } from './factors.ts'
import { issuer, setUpAccount } from './parties.ts'
import { addUri } from './passkeys.ts'

async function setUp() {
  const f = await setUpAccount({ endpoint: { features: [{ parts: () => [offerKit('authorization-endpoint')] }] } })
  const kit = kitOf(f.provider, 'authorization-endpoint')
  const { factors, account } = storedSecondFactors({ encryptionSecrets })
  const passkeys = storedPasskeys()
  const device = createAuthenticator()
  const challenge = kit.sha256('challenge')
  const { origin, hostname: rpId } = new URL(issuer)

  async function addApp() {
    const secret = account.newSecret()
    await account.confirm({ sub: 'alice', secret, code: codeAt(secret, f.clock.now()) }, kit)
    return secret
  }
  async function addPasskey() {
    const owner = { name: 'Laptop', sub: 'alice', userName: 'Alice' }
    const added = await passkeys.add({ credential: device.register(challenge), challenge, origin, rpId, ...owner }, kit)
    return typeof added === 'string' ? added : added.id
  }
  await addPasskey()
  await insertLink(kit, 'link', { sub: 'alice', provider: 'acme', name: 'Acme', linkedAt: f.clock.now() })
  const secret = await addApp()
  const appHere = async () => (await account.state('alice', kit)).app
  const passkeysHere = async () => (await passkeys.list('alice', kit)).length
  const linksHere = async () => (await listLinks(kit, 'alice')).length
  const signsIn = () => passkeys.verify({ credential: device.respond(challenge), challenge, origin }, kit)
  const [app] = factors
  return {
    ...f,
    kit,
    account,
    app,
    secret,
    addApp,
    addPasskey,
    signsIn,
    /** Each removal, whether what it removes is there, and a reset. */
    removals: {
      app: {
        remove: (isStillAllowed: () => Promise<boolean>) => account.remove('alice', kit, { isStillAllowed }),
        isThere: appHere,
        reset: () => app?.reset?.('alice', kit),
      },
      passkey: {
        remove: async (isStillAllowed: () => Promise<boolean>) => {
          const [passkey] = await passkeys.list('alice', kit)
          return passkeys.remove('alice', passkey?.id ?? '', kit, isStillAllowed)
        },
        isThere: async () => (await passkeysHere()) > 0,
        reset: () => passkeys.reset('alice', kit),
      },
      link: {
        remove: async (isStillAllowed: () => Promise<boolean>) =>
          (await removeLink(kit, 'alice', 'link', isStillAllowed)) !== undefined,
        isThere: async () => (await linksHere()) > 0,
        reset: () => removeLink(kit, 'alice', 'link'),
      },
    },
  }
}

test.each(['app', 'passkey', 'link'] as const)('a removal of the %s counts from its mark', async (name) => {
  const { removals, clock } = await setUp()
  const { remove, isThere, reset } = removals[name]
  const seen: boolean[] = []
  const check = (isAllowed: boolean) => async () => {
    seen.push(await isThere(), await remove(async () => true))
    return isAllowed
  }
  // Neither seen nor removed by another request meanwhile, and back afterwards, for its whole time.
  expect([await remove(check(false)), seen, await isThere()]).toEqual([false, [false, false], true])
  clock.advance(86_400)
  expect(await isThere()).toBe(true)
  // A check that fails removes nothing.
  await expect(remove(() => Promise.reject(new Error('no storage')))).rejects.toThrow('no storage')
  expect(await isThere()).toBe(true)
  // What a reset removes meanwhile does not come back.
  const isBack = await remove(async () => {
    await reset()
    return false
  })
  expect([isBack, await isThere()]).toEqual([false, false])
})

test.each(['app', 'passkey', 'link'] as const)('a removal of the %s is complete if its process dies', async (name) => {
  const { removals, clock, app, kit } = await setUp()
  const { remove, isThere } = removals[name]
  await remove(async () => {
    clock.advance(3601)
    return false
  })
  expect([await isThere(), name === 'app' && (await app?.isSetUp('alice', kit))]).toEqual([false, false])
})

test('a passkey does not sign in while it is removed, and an app is asked for until it is', async () => {
  const { removals, signsIn, app, kit } = await setUp()
  const seen: unknown[] = []
  await removals.passkey.remove(async () => {
    seen.push(await signsIn())
    return false
  })
  await removals.app.remove(async () => {
    seen.push(await app?.isSetUp('alice', kit))
    return true
  })
  expect([...seen, await app?.isSetUp('alice', kit)]).toEqual([undefined, true, false])
  expect(await signsIn()).toBeDefined()
})

test('an app is removed by its secret only, and a new one is not taken for it', async () => {
  const { account, kit, secret, addApp, clock, removals } = await setUp()
  expect(await account.remove('alice', kit, { secret: account.newSecret() })).toBe(false)
  const isRemoved = await account.remove('alice', kit, {
    async isStillAllowed() {
      await removals.app.reset()
      clock.advance(60)
      await addApp()
      return true
    },
  })
  expect([isRemoved, await removals.app.isThere()]).toEqual([false, true])
  expect(await account.remove('alice', kit, { secret })).toBe(false)
  expect(await removals.app.isThere()).toBe(true)
})

test('a link that is being removed, such as by a process that has died, can be linked again', async () => {
  const { kit, clock, removals } = await setUp()
  const link = { sub: 'alice', provider: 'acme', name: 'Acme', linkedAt: clock.now() }
  const isRemoved = await removals.link.remove(async () => {
    expect(await insertLink(kit, 'link', { ...link, sub: 'bob' })).toBe('taken')
    expect(await insertLink(kit, 'link', link)).toBe('linked')
    return true
  })
  expect([isRemoved, await removals.link.isThere()]).toEqual([false, true])
  clock.advance(86_400)
  expect(await removals.link.isThere()).toBe(true)
})

test('a password alone adds no factor while an app is removed, which a sign-in still asks for', async () => {
  const { factors, account } = storedSecondFactors({ encryptionSecrets })
  const passkeys = storedPasskeys()
  const f = await setUpAccount({
    signIn: { secondFactors: factors, passkeys },
    account: { secondFactors: account, passkeys, secondFactorAcrValues: ['mfa'] },
    endpoint: { features: [{ parts: () => [offerKit('authorization-endpoint')] }] },
  })
  const kit = kitOf(f.provider, 'authorization-endpoint')
  const { browser } = await f.signedIn('alice')
  const sub = 'sub of alice'
  const secret = account.newSecret()
  await account.confirm({ sub, secret, code: codeAt(secret, f.clock.now()) }, kit)
  const asksAgain = async () => (await browser.open(addUri)).html.includes('name="password"')
  const seen = [await asksAgain()]
  await account.remove(sub, kit, {
    async isStillAllowed() {
      seen.push(await asksAgain())
      return true
    },
  })
  expect([...seen, await asksAgain()]).toEqual([true, true, false])
})
