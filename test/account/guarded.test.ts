// The forms of the account page, whose session ends at each moment of a change. `attacks/account-forms-at-each-call` does the
// same with a real storage; here, each rule of `guarded()` has its own moment.
import { type EndpointKit, OAuthError } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { guarded, isEnded } from '../../plugins/account/guarded.ts'
import type { AccountServices } from '../../plugins/account/services.ts'
import type { Visit } from '../../plugins/account/visit.ts'

const session = { sid: 'own', subject: { sub: 'alice', authTime: 0 } }

interface Conditions {
  readonly isStillAllowed?: () => Promise<boolean>
  readonly secret?: string
}

/**
 * Returns guarded services whose session counts for a number of questions.
 *
 * @param hasApp whether the app is left after the change
 * @param asks whether the services use the check that they get
 * @param fails whether the questions after that number fail
 */
function setUp(questions: number, { hasApp = true, started = 'own', asks = true, fails = false } = {}) {
  const log: string[] = []
  let asked = 0
  const note = (what: string) => async () => void log.push(what)
  const records = {
    put: note('put'),
    insert: note('insert'),
    delete: note('delete'),
    update: note('update'),
  } as unknown as EndpointKit['records']
  const kit = {
    records,
    now: () => 0,
    isUserActive: async () => true,
    refuse: (code: 'login_required', message: string, reason: string) => new OAuthError(code, message, { reason }),
  } as unknown as EndpointKit
  /** A function of a service: what the host stores itself, and then a write with the kit. A check it is given comes last. */
  const service =
    <T>(name: string, method: 'put' | 'insert' | 'delete' | 'update', result: T) =>
    async (...values: readonly unknown[]): Promise<T> => {
      const callersKit = values.find((value) => typeof value === 'object' && value !== null && 'records' in value)
      const last = values.at(-1) as Conditions | (() => Promise<boolean>)
      const secret = typeof last === 'object' ? last.secret : undefined
      const texts = values.filter((value) => typeof value === 'string')
      log.push([name, ...texts, ...(secret === undefined ? [] : [`of ${secret}`])].join(' ').trim())
      const write = (callersKit as EndpointKit).records[method] as () => Promise<unknown>
      await write()
      const check = typeof last === 'function' ? last : last.isStillAllowed
      if (check === undefined || !asks) return result
      log.push((await check()) ? 'removed' : 'put back')
      return result
    }
  const services = {
    sessions: {
      async find() {
        asked += 1
        if (fails && asked > questions) throw new Error('no storage')
        return asked > questions ? undefined : session
      },
      end: service('end', 'delete', undefined),
      async start() {
        log.push('start')
        return { session: { sid: started }, cookies: [] }
      },
    },
    passkeys: {
      add: service('add', 'insert', { id: 'p1' }),
      rename: service('rename', 'update', true),
      remove: service('remove passkey', 'delete', true),
    },
    secondFactors: {
      state: async () => ({ app: hasApp, codes: true }),
      confirm: service('confirm', 'insert', 'confirmed'),
      remove: service('remove app', 'delete', true),
      newCodes: service('new codes', 'put', ['1']),
    },
    linkedProviders: {
      linked: (of: EndpointKit) => ({
        unlink: (sub: string, id: string, check: unknown) => service('unlink', 'delete', true)(sub, id, of, check),
      }),
    },
  } as unknown as AccountServices
  const visit = { session, kit, request: {}, path: '', locale: 'en' } as unknown as Visit
  return { log, kit, services: guarded(visit, services) }
}

type Call = (services: AccountServices, kit: EndpointKit) => Promise<unknown> | undefined

/** Each change, with its steps: what the host does, the write, and what undoes it. A removal asks itself after its mark. */
const changes: Readonly<Record<string, readonly [call: Call, steps: readonly string[], undo?: readonly string[]]>> = {
  'ends a session': [({ sessions }, kit) => sessions.end(kit, 's2'), ['end s2', 'delete']],
  'adds a passkey': [
    ({ passkeys }, kit) => passkeys?.add({ sub: 'alice' } as never, kit),
    ['add', 'insert'],
    ['remove passkey alice p1', 'delete'],
  ],
  'renames a passkey': [
    ({ passkeys }, kit) => passkeys?.rename('alice', 'p1', 'x', kit),
    ['rename alice p1 x', 'update'],
  ],
  'removes a passkey': [
    ({ passkeys }, kit) => passkeys?.remove('alice', 'p1', kit),
    ['remove passkey alice p1', 'delete'],
    ['put back'],
  ],
  'sets up an app': [
    ({ secondFactors }, kit) => secondFactors?.confirm({ sub: 'alice', secret: 's1' } as never, kit),
    ['confirm', 'insert'],
    ['remove app alice of s1', 'delete'],
  ],
  'removes the app': [
    ({ secondFactors }, kit) => secondFactors?.remove('alice', kit),
    ['remove app alice', 'delete'],
    ['put back'],
  ],
  'creates recovery codes': [
    ({ secondFactors }, kit) => secondFactors?.newCodes('alice', kit),
    ['new codes alice', 'put'],
    ['put back'],
  ],
  'unlinks a provider': [
    ({ linkedProviders }, kit) => linkedProviders?.linked(kit).unlink('alice', 'l1'),
    ['unlink alice l1', 'delete'],
    ['put back'],
  ],
}

const ended = async (call: Promise<unknown> | undefined): Promise<boolean> =>
  Promise.resolve(call).then(
    () => false,
    (thrown) => isEnded(thrown),
  )

describe.each(Object.entries(changes))('a form that %s', (_, [call, steps, undo]) => {
  test.each([
    ['before it begins', 0, true, []],
    ['directly before its write', 1, true, steps.slice(0, 1)],
    ['after its write', 2, undo !== undefined, [...steps, ...(undo ?? [])]],
    ['later', 3, false, undo?.[0] === 'put back' ? [...steps, 'removed'] : steps],
  ])('whose session ends %s', async (_when, questions, isRefused, expected) => {
    const { log, kit, services } = setUp(questions)
    expect(await ended(call(services, kit))).toBe(isRefused)
    expect(log).toEqual(expected)
  })
})

test('recovery codes are not left without their app', async () => {
  const { log, kit, services } = setUp(3, { hasApp: false })
  expect(await ended(services.secondFactors?.newCodes('alice', kit))).toBe(true)
  expect(log).toEqual(['new codes alice', 'put', 'put back', 'remove app alice of', 'delete'])
})

test.each([2, 3])(
  'recovery codes of a host that does not ask are shown only while the session counts: %i',
  async (questions) => {
    const { kit, services } = setUp(questions, { asks: false })
    const codes = services.secondFactors?.newCodes('alice', kit)
    expect(await codes?.catch(isEnded)).toEqual(questions === 2 ? true : ['1'])
  },
)

test.each(['adds a passkey', 'sets up an app'])(
  'what a form that %s has added is taken back if the check fails',
  async (name) => {
    const { log, kit, services } = setUp(2, { fails: true })
    const [call, steps, undo = []] = changes[name] ?? []
    await expect(call?.(services, kit)).rejects.toThrow('no storage')
    expect(log).toEqual([...(steps ?? []), ...undo])
  },
)

describe('a session that continues the one of a form', () => {
  const user = { subject: { sub: 'alice', amr: ['pwd'] } }
  const start = ({ services, kit }: ReturnType<typeof setUp>) =>
    services.sessions.start(kit, user as never, {} as never)

  test('is not begun by one that has ended', async () => {
    const f = setUp(0)
    expect(await ended(start(f))).toBe(true)
    expect(f.log).toEqual([])
  })

  test('is ended if it has become another one', async () => {
    const f = setUp(1)
    expect(await ended(start(f))).toBe(false)
    expect(f.log).toEqual(['start'])
    const replaced = setUp(1, { started: 'other' })
    expect(await ended(start(replaced))).toBe(true)
    expect(replaced.log).toEqual(['start', 'end other', 'delete'])
  })
})
