import type { AtomicDriver } from '@grantry/core'
import type { AccountPageOptions, AccountPasskeys, AccountSecondFactors, ProviderLinks } from '@grantry/plugins/account'
import type { TestProviderOptions } from '@grantry/testing'
import { setUpAddress } from './addresses.ts'
import { accountUri } from './parties.ts'

export const deletionUri = `${accountUri}/delete`

/** What alice has set up, in memory. */
export function memoryFactors() {
  const left = new Set(['passkey', 'app', 'link'])
  const isOf = (sub: string, name: string): boolean => sub === 'alice' && left.has(name)
  const remove = (sub: string, name: string): boolean => isOf(sub, name) && left.delete(name)
  const unused = async () => Promise.reject(new Error('A deletion needs no such function'))
  const passkeys = {
    algorithms: [-7],
    credentialIds: unused,
    add: unused,
    rename: unused,
    list: async (sub: string) => (isOf(sub, 'passkey') ? [{ id: 'p', name: 'Laptop', addedAt: 0 }] : []),
    remove: async (sub: string) => remove(sub, 'passkey'),
  } as unknown as AccountPasskeys
  const secondFactors = {
    newSecret: unused,
    uriOf: unused,
    confirm: unused,
    newCodes: unused,
    state: async (sub: string) => ({ app: isOf(sub, 'app'), codes: false }),
    remove: async (sub: string) => remove(sub, 'app'),
  } as unknown as AccountSecondFactors
  const link = { id: 'l', sub: 'alice', provider: 'acme', name: 'alice@acme.example', linkedAt: 0 }
  const linkedProviders = {
    linked: () => ({
      providers: [{ name: 'acme', displayName: 'Acme' }],
      list: async (sub: string) => (isOf(sub, 'link') ? [link] : []),
      unlink: async (sub: string) => remove(sub, 'link'),
      forget: async () => {},
    }),
    onLinked() {},
  } as unknown as ProviderLinks
  return { passkeys, secondFactors, linkedProviders, left: () => [...left] }
}

/** A sign-in that accepts such factors, and asks for none: these tests are about the page. */
const accepting = {
  passkeys: { verify: async () => undefined },
  secondFactors: [{ amr: 'otp', isSetUp: () => false, verify: () => false }],
  ways: [{ links: () => [], parts: () => [] }],
}

export async function setUpDeletion(
  account: Partial<AccountPageOptions> = {},
  provider: Partial<TestProviderOptions> = {},
) {
  const { left, ...factors } = memoryFactors()
  const f = await setUpAddress({}, { account: { ...factors, deletion: true, ...account }, signIn: accepting, provider })
  return { ...f, left }
}

/** A storage that fails from an operation on, as for a process that dies there. */
export function crashing(driver: AtomicDriver) {
  let budget = Number.POSITIVE_INFINITY
  let hasCrashed = false
  const proxy = new Proxy(driver, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...values: readonly unknown[]) => {
        budget -= 1
        if (budget < 0) {
          hasCrashed = true
          throw new Error('crashed')
        }
        return value.apply(target, values)
      }
    },
  })
  return {
    driver: proxy,
    crashAfter(operations: number): void {
      budget = operations
    },
    /** Returns whether it has failed. */
    repair(): boolean {
      budget = Number.POSITIVE_INFINITY
      return hasCrashed
    },
  }
}
