/**
 * Attack: an attacker who writes to the storage moves what is sealed there to another record: the app of the attacker to the
 * user, or the code of a mail to the attacker to the mail of the user. Sealing hides a value, and does not say where it belongs.
 */
import { sealing } from '@grantry/core'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { createMailed, isMailedCode } from '../../plugins/shared/mailed-code.ts'
import { passwordAt, secret } from '../sign-in/one-time-password-parties.ts'
import { kitOf, kitPlugin } from '../support/kit-of.ts'

async function setting() {
  const storage = memoryDriver()
  const { provider, clock } = await createTestProvider({ storage, plugins: [sealing, kitPlugin('test')] })
  return { kit: kitOf(provider, 'test'), clock }
}

test('the app of one user proves nothing about another', async () => {
  const { kit, clock } = await setting()
  const { factors, account } = storedSecondFactors({ encryptionSecrets: ['s'.repeat(32)] })
  const [app] = factors
  const confirmed = { sub: 'mallory', secret, code: passwordAt(clock.now()) }
  expect(await account.confirm(confirmed, kit)).toBe('confirmed')
  const key = 'authenticator app of mallory'
  const sealed = await kit.records.get(key, v.any())
  await kit.records.put('authenticator app of alice', sealed, clock.now() + 1000)
  clock.advance(30)
  expect(await app?.isSetUp('alice', kit)).toBe(true)
  expect(await app?.verify('alice', passwordAt(clock.now()), kit)).toBe(false)
  expect(await app?.verify('mallory', passwordAt(clock.now()), kit)).toBe(true)
})

test('the code of one mail proves nothing about another', async () => {
  const { kit, clock } = await setting()
  const settings = { counts: true, expiresAt: clock.now() + 900 }
  const [mailed, otherMailed] = [await createMailed(settings, kit), await createMailed(settings, kit)]
  expect(await isMailedCode({ ...otherMailed.stored, code: mailed.stored.code }, mailed.code, kit)).toBe(false)
  expect(await isMailedCode(mailed.stored, mailed.code, kit)).toBe(true)
  expect(await isMailedCode({ ...mailed.stored, id: `${mailed.stored.id}2`, counts: false }, mailed.code, kit)).toBe(
    false,
  )
})
