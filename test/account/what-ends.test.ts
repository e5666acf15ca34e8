// What ends is removed: names and uses of passkeys, and used recovery codes.
import type { Json } from '@grantry/core'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { secondFactors } from '@grantry/plugins/sign-in'
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { kitOf, offerKit } from '../support/kit-of.ts'
import { codesIn, encryptionSecrets, setUpFactors } from './factors.ts'
import { accountUri, issuer, setUpAccount } from './parties.ts'
import { addUri, optionsIn } from './passkeys.ts'

const name = 'Key in the blue drawer'

/** A kit of the authorization endpoint, and the keys of the records that its plugins have written and not deleted. */
async function trackedKit() {
  const f = await setUpAccount({
    endpoint: { features: [{ parts: () => [offerKit('authorization-endpoint')] }] },
  })
  const untracked = kitOf(f.provider, 'authorization-endpoint')
  const keys = new Set<string>()
  const { records } = untracked
  const kit = {
    ...untracked,
    records: {
      ...records,
      put(key: string, ...more: [value: Json, expiresAt: number]) {
        keys.add(key)
        return records.put(key, ...more)
      },
      async insert(key: string, ...more: [value: Json, expiresAt: number]) {
        const isNew = await records.insert(key, ...more)
        if (isNew) keys.add(key)
        return isNew
      },
      delete(key: string) {
        keys.delete(key)
        return records.delete(key)
      },
    },
  }
  return { kit, keys }
}

describe('a passkey that is removed', () => {
  test.each(['by its user', 'by an operator'])('leaves neither its name nor its use, %s', async (by) => {
    const { kit, keys } = await trackedKit()
    const passkeys = storedPasskeys()
    const device = createAuthenticator()
    const challenge = kit.sha256('challenge')
    const { origin, hostname: rpId } = new URL(issuer)
    const owner = { name, sub: 'alice', userName: 'Alice' }
    const added = await passkeys.add({ credential: device.register(challenge), challenge, origin, rpId, ...owner }, kit)
    expect(await passkeys.verify({ credential: device.respond(challenge), challenge, origin }, kit)).toBeDefined()
    expect([...keys].filter((key) => /^passkey(?: name| use)?:/u.test(key))).toHaveLength(3)
    if (typeof added === 'string') throw new Error(added)
    if (by === 'by its user') expect(await passkeys.remove('alice', added.id, kit)).toBe(true)
    else await passkeys.reset('alice', kit)
    // Claims of a slot live for a minute.
    expect([...keys].filter((key) => !key.includes(':claim of '))).toEqual([])
  })

  test('of another user stays, if a place of it was left behind', async () => {
    const passkeys = storedPasskeys()
    const f = await setUpAccount({
      signIn: { passkeys },
      account: { passkeys },
      endpoint: { features: [{ parts: () => [offerKit('authorization-endpoint')] }] },
    })
    const { browser: bob } = await f.signedIn('bob')
    const device = createAuthenticator()
    const page = await bob.open(addUri)
    await f.send(bob, page, { credential: device.register(optionsIn(page).challenge), name })
    const kit = kitOf(f.provider, 'authorization-endpoint')
    // As a process leaves it that dies while alice sends the passkey of bob.
    const slot = { member: JSON.stringify([device.credentialId, kit.now()]), id: 'left' }
    await kit.records.put('passkeys of sub of alice:0', slot, kit.now() + 1000)
    await f.provider.use(secondFactors).reset('sub of alice')
    expect(await passkeys.credentialIds('sub of bob', kit)).toEqual([device.credentialId])
  })
})

describe('recovery codes', () => {
  test('that were used are not counted as there', async () => {
    const { signedIn, setUpApp, browser, enter } = await setUpFactors()
    const { browser: alice } = await signedIn()
    const codes = codesIn((await setUpApp(alice)).done)
    expect((await alice.open(accountUri)).html).toContain('Recovery codes left: 10.')
    const use = async (code: string) => {
      const nextBrowser = browser()
      const asked = await enter(nextBrowser, await nextBrowser.open(accountUri))
      return nextBrowser.submit(`${issuer}/connect/secondfactor`, { ...hiddenFields(asked), code })
    }
    expect((await use(codes[0] ?? '')).html).toContain('Recovery codes left: 9.')
    for (const code of codes.slice(1, 9)) await use(code)
    expect((await use(codes[9] ?? '')).html).toContain('You have no recovery codes')
  })

  test.each(['replaced', 'removed with the app'])('leave nothing of those that were used, when %s', async (end) => {
    const { kit, keys } = await trackedKit()
    const { account, factors } = storedSecondFactors({ encryptionSecrets })
    const [code = ''] = await account.newCodes('alice', kit)
    const [, codes] = factors
    expect(await codes?.verify('alice', code, kit)).toBe(true)
    expect(await codes?.verify('alice', code, kit)).toBe(false)
    expect([...keys].filter((key) => key.startsWith('recovery:'))).toHaveLength(1)
    if (end === 'replaced') await account.newCodes('alice', kit)
    else await codes?.reset?.('alice', kit)
    expect([...keys].filter((key) => key.startsWith('recovery:'))).toEqual([])
    expect(await codes?.verify('alice', code, kit)).toBe(false)
  })

  test('a code that is replaced while it is checked does not count', async () => {
    const stored = storedSecondFactors({ encryptionSecrets })
    const f = await setUpAccount({
      signIn: { secondFactors: stored.factors },
      account: { secondFactors: stored.account },
      endpoint: { features: [{ parts: () => [offerKit('authorization-endpoint')] }] },
    })
    const kit = kitOf(f.provider, 'authorization-endpoint')
    const [code = ''] = await stored.account.newCodes('alice', kit)
    const [, codes] = stored.factors
    let isReplaced = false
    const slow = {
      ...kit,
      records: {
        ...kit.records,
        async insert(...parameters: Parameters<typeof kit.records.insert>) {
          if (!isReplaced) await stored.account.newCodes('alice', kit)
          isReplaced = true
          return kit.records.insert(...parameters)
        },
      },
    }
    expect([await codes?.verify('alice', code, slow), isReplaced]).toEqual([false, true])
  })
})
