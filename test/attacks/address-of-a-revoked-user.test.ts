/**
 * Attack: a thief with a session, a fresh authentication and the code of a mail to the own mailbox changes the address of
 * the user, while an operator revokes the user, ends the sessions, or the user signs out.
 *
 * OWASP ASVS 5.0 section 7.4; decision 170.
 */
import { expect, test } from 'vitest'
import { codeIn, codeUri, setUpAddress } from '../account/addresses.ts'
import { hiddenFields } from '../authorization/browser.ts'
import { aliceAccount, memoryAccounts } from '../self-service/parties.ts'

test('20.72 an address is not changed for a user who was revoked while the code was checked', async () => {
  const memory = memoryAccounts([aliceAccount])
  let onFind: (() => Promise<unknown>) | undefined
  const store = {
    ...memory.store,
    async find(sub: string) {
      await onFind?.()
      return memory.store.find(sub)
    },
  }
  const f = await setUpAddress(
    {},
    {
      account: { accounts: store },
      provider: { users: { authenticate: memory.authenticate, claims: () => ({}) } },
    },
  )
  const { browser } = await f.signedIn()
  const page = await f.ask(browser, 'thief@evil.example')
  const [mail] = await f.mailsTo('thief@evil.example')
  // The account is read after the code was used.
  onFind = () => f.provider.revoke({ subject: 'alice' })
  const refused = await browser.submit(codeUri, { ...hiddenFields(page), code: codeIn(mail) })
  onFind = undefined
  expect(refused.html).not.toContain('was changed')
  expect(memory.users.get('alice')?.email).toBe('alice@example.com')
  expect(f.events.filter((event) => event.type === 'account_changed')).toEqual([])
})
