/**
 * Attack: an attacker who reads the storage asks for a mail for the address of a user in the own browser, and finds its code
 * there: a code of six digits has a million hashes, which take a second.
 */
import { createHash } from 'node:crypto'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { codeIn, linkIn, setUpAccounts } from '../self-service/parties.ts'

const sha256 = (data: string): string => createHash('sha256').update(data).digest('base64url')

test('no record contains a code, a link, or a hash of the code with what else is in the storage', async () => {
  const storage = memoryDriver()
  const f = await setUpAccounts({}, { provider: { storage } })
  const { ask } = await f.start()
  await ask('forgot', 'alice@example.com')
  const mail = await f.lastMail()
  const code = codeIn(mail)
  const items = JSON.stringify([...(storage.getInstance?.() ?? [])])
  const texts = new Set(items.match(/[\w@. -]{2,64}/gu))
  expect(texts).toContain('alice@example.com')
  expect(texts).not.toContain(code)
  expect(items).not.toContain(new URL(linkIn(mail)).searchParams.get('token'))
  expect(texts).not.toContain(sha256(code))
  for (const first of texts) {
    for (const second of texts) {
      expect(texts.has(sha256(JSON.stringify([first, second, code])))).toBe(false)
      expect(texts.has(sha256(`${first}${second}${code}`))).toBe(false)
    }
    expect(texts.has(sha256(JSON.stringify([first, code])))).toBe(false)
  }
})
