/**
 * Attack: someone who reads the mails of a user signs in with one, while the user chooses a new password or an operator
 * revokes the user. A session that begins a moment later must not remain.
 */
import { expect, test } from 'vitest'
import { linkIn, setUpAccounts, titleOf } from '../self-service/parties.ts'

test('a sign-in by mail that is checked while the user is revoked gives no session', async () => {
  let onCheck = async (): Promise<void> => {}
  const f = await setUpAccounts(
    { mail: 'both' },
    {
      provider: {
        users: {
          authenticate: () => undefined,
          async isActive() {
            await onCheck()
            return true
          },
        },
      },
    },
  )
  const { ask, browser, submit } = await f.start()
  await ask('by-mail', 'alice@example.com')
  const page = await browser.open(linkIn(await f.lastMail()))
  onCheck = async () => {
    onCheck = async () => {}
    await f.provider.revoke({ subject: 'alice' })
  }
  const next = await submit(page, {})
  expect(next.html).not.toContain('Signed in as alice')
  expect(titleOf((await f.start({}, browser)).page)).toBe('Sign in')
})
