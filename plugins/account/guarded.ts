import { type EndpointKit, isOAuthError } from '@grantry/core'
import type { AccountServices } from './services.ts'
import { mayStillChange, type Visit } from './visit.ts'

const ended = 'ended_meanwhile'

/** A secret that no app has: only the codes are removed. */
const noApp = ''

/** Whether a form was interrupted because its session is no longer valid. */
export const isEnded = (thrown: unknown): boolean => isOAuthError(thrown) && thrown.details.reason === ended

const refused = (kit: EndpointKit) => kit.refuse('login_required', 'The session has ended meanwhile', ended)

/** Returns a kit that asks once, directly before its first write, so that a change that has begun is completed. */
function askingKit(kit: EndpointKit, ask: () => Promise<void>): EndpointKit {
  let asked: Promise<void> | undefined
  const before =
    <A extends readonly unknown[], T>(write: (...values: A) => Promise<T>) =>
    async (...values: A): Promise<T> => {
      asked ??= ask()
      await asked
      return write(...values)
    }
  const { put, insert, delete: remove, update } = kit.records
  return {
    ...kit,
    records: {
      ...kit.records,
      put: before(put),
      insert: before(insert),
      delete: before(remove),
      // Its type depends on the schema, which `before` does not know.
      update: (key, schema, change) => before(() => update(key, schema, change))(),
    },
  }
}

/** Returns an object with some of its members replaced. A port of the host can be an instance of a class. */
const replacing = <T extends object>(target: T, members: Partial<T>): T =>
  new Proxy({} as T, {
    get(_, name) {
      const value: unknown = Reflect.get(Object.hasOwn(members, name) ? members : target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

/** Creates the functions with which a form asks whether its session is still valid. */
function createGuard(visit: Visit, services: AccountServices) {
  const { kit } = visit
  const may = () => mayStillChange(visit, services)
  async function ask(): Promise<void> {
    if (!(await may())) throw refused(kit)
  }
  /** Asks before the call, too: a host that stores something itself does not use the kit. */
  async function write<T>(call: (asking: EndpointKit) => Promise<T>): Promise<T> {
    await ask()
    return call(askingKit(kit, ask))
  }
  /** Takes an addition back unless the session is still valid, or if its state cannot be read. */
  async function orTakenBack(takeBack: () => Promise<unknown>): Promise<void> {
    let mayStay = false
    try {
      mayStay = await may()
    } finally {
      if (!mayStay) await takeBack()
    }
    if (!mayStay) throw refused(kit)
  }
  /**
   * Runs a removal. It asks once more after it has marked its object as removed, and restores the object if it must
   * not be removed.
   */
  async function removal(call: (asking: EndpointKit, isStillAllowed: () => Promise<boolean>) => Promise<boolean>) {
    let mayNot = false
    const isRemoved = await write((asking) =>
      call(asking, async () => {
        mayNot = !(await may())
        return !mayNot
      }),
    )
    if (mayNot) throw refused(kit)
    return isRemoved
  }
  return { ask, may, orTakenBack, removal, write }
}

function guardedFactors(
  secondFactors: NonNullable<AccountServices['secondFactors']>,
  kit: EndpointKit,
  { may, orTakenBack, removal, write }: ReturnType<typeof createGuard>,
) {
  return replacing(secondFactors, {
    async confirm(app) {
      const result = await write((asking) => secondFactors.confirm(app, asking))
      // Removes this app only, not one that the owner has set up since.
      const takeBack = () => secondFactors.remove(app.sub, kit, { secret: app.secret })
      if (result === 'confirmed') await orTakenBack(takeBack)
      return result
    },
    remove: (sub) => removal((asking, isStillAllowed) => secondFactors.remove(sub, asking, { isStillAllowed })),
    async newCodes(sub) {
      let isLeft: boolean | undefined
      let isAllowed: boolean | undefined
      const isStillAllowed = async () => {
        isLeft = (await secondFactors.state(sub, kit)).app
        isAllowed = isLeft && (await may())
        return isAllowed
      }
      const codes = await write((asking) => secondFactors.newCodes(sub, asking, isStillAllowed))
      // A host that stores the codes itself has not asked. If the session is no longer valid, no page shows them.
      if (codes.length > 0 && (isAllowed ?? (await isStillAllowed()))) return codes
      // No codes may remain without an app. The app of a user who was only revoked stays.
      if (isLeft === false) await secondFactors.remove(sub, kit, { secret: noApp })
      throw refused(kit)
    },
  })
}

/**
 * Returns the services with which a form changes the factors of its user. Each write asks whether the session is
 * still valid: immediately before and, if it has added or marked something, afterwards. A thief whose session ends
 * while the request is in flight can thus neither remove nor add a factor.
 */
export function guarded(visit: Visit, services: AccountServices): AccountServices {
  const { kit } = visit
  const { passkeys, secondFactors, linkedProviders, sessions } = services
  const guard = createGuard(visit, services)
  const { ask, orTakenBack, removal, write } = guard
  return {
    ...services,
    sessions: replacing(sessions, {
      end: (_kit, sid) => write((asking) => sessions.end(asking, sid)),
      async start(_kit, user, request) {
        await ask()
        const started = await sessions.start(kit, user, request)
        if (started.session.sid === visit.session.sid) return started
        // The session of this request, which the new one was to continue, has just ended.
        await sessions.end(kit, started.session.sid)
        throw refused(kit)
      },
    }),
    passkeys:
      passkeys &&
      replacing(passkeys, {
        async add(passkey) {
          const added = await write((asking) => passkeys.add(passkey, asking))
          if (typeof added !== 'string') await orTakenBack(() => passkeys.remove(passkey.sub, added.id, kit))
          return added
        },
        rename: (sub, id, name) => write((asking) => passkeys.rename(sub, id, name, asking)),
        remove: (sub, id) => removal((asking, check) => passkeys.remove(sub, id, asking, check)),
      }),
    secondFactors: secondFactors && guardedFactors(secondFactors, kit, guard),
    linkedProviders:
      linkedProviders &&
      replacing(linkedProviders, {
        linked: () =>
          replacing(linkedProviders.linked(kit), {
            unlink: (sub, id) => removal((asking, check) => linkedProviders.linked(asking).unlink(sub, id, check)),
          }),
      }),
  }
}
