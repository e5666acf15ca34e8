/**
 * Attack: a user sends the passkey of another user, and the process dies in between: the place of the passkey among those of
 * the attacker stays. The attacker then sees it in the list, renames it, removes it, or lets its device forget it.
 *
 * WebAuthn Level 3 section 7.1 (a credential belongs to one user); decision 165.
 */
import { secondFactors } from '@grantry/plugins/sign-in'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { mortal } from '../account/dying.ts'
import { accountUri, linksTo } from '../account/parties.ts'
import { addUri, optionsIn, setUpPasskeys } from '../account/passkeys.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'

test('a passkey of another user is never in the list, at whichever step a process dies', async () => {
  let died = 0
  for (let steps = 0; steps < 30; steps += 1) {
    const life = mortal()
    const { signedIn, enrol, send } = await setUpPasskeys({ storage: life.wrap(memoryDriver()) })
    const device = createAuthenticator()
    const [bob, alice] = [await signedIn('bob'), await signedIn()]
    await enrol(bob.browser, device)
    const page = await alice.browser.open(addUri)
    const credential = device.register(optionsIn(page).challenge)
    life.dieAfter(steps)
    await send(alice.browser, page, { credential, name: 'mine' })
    if (!life.restart()) break
    died += 1
    const overview = await alice.browser.open(accountUri)
    expect(linksTo(overview, 'passkeys/'), `${steps} steps`).toEqual([addUri])
    expect(overview.html).not.toContain(device.credentialId)
    expect(optionsIn(await alice.browser.open(addUri)).exclude).toEqual([])
    expect(linksTo(await bob.browser.open(accountUri), 'passkeys/')).toHaveLength(3)
  }
  expect(died).toBeGreaterThan(2)
})

test('a reset of the factors of the attacker leaves the passkey of the other user, at whichever step a process dies', async () => {
  let died = 0
  for (let steps = 0; steps < 30; steps += 1) {
    const life = mortal()
    const { signedIn, enrol, send, provider } = await setUpPasskeys({ storage: life.wrap(memoryDriver()) })
    const device = createAuthenticator()
    const [bob, alice] = [await signedIn('bob'), await signedIn()]
    await enrol(bob.browser, device)
    const page = await alice.browser.open(addUri)
    const credential = device.register(optionsIn(page).challenge)
    life.dieAfter(steps)
    await send(alice.browser, page, { credential, name: 'mine' })
    if (!life.restart()) break
    died += 1
    // Nor does the answer count it.
    expect(await provider.use(secondFactors).reset('sub of alice'), `${steps} steps`).toEqual({ passkeys: 0 })
    expect(linksTo(await bob.browser.open(accountUri), 'passkeys/')).toHaveLength(3)
    expect(await provider.use(secondFactors).reset('sub of bob')).toEqual({ passkeys: 1 })
  }
  expect(died).toBeGreaterThan(2)
})
