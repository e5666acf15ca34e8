import { type EndpointKit, isOAuthError } from '@grantry/core'
import type { AccountSecondFactors } from '../shared/account-factors.ts'
import type { AccountServices } from './services.ts'
import { mayStillChange, type Visit } from './visit.ts'

const ended = 'ended_meanwhile'

/** A secret that no app has: only the codes are removed. */
const noApp = ''

/** Whether a form was interrupted because its session does not count any more. */
export const isEnded = (thrown: unknown): boolean => isOAuthError(thrown) && thrown.details.reason === ended

const refused = (kit: EndpointKit) => kit.refuse('login_required', 'The session has ended meanwhile', ended)

/** Undoes what was added if it may not stay, also if that cannot be read. */
async function keepIf(kit: EndpointKit, mayStay: () => Promise<boolean>, undo: () => Promise<unknown>): Promise<void> {
  let stays = false
  try {
    stays = await mayStay()
  } finally {
    if (!stays) await undo()
  }
  if (!stays) throw refused(kit)
}

/** New codes must not be left, at whichever moment the app is removed or the user revoked. */
async function keepCodes(sub: string, factors: AccountSecondFactors, kit: EndpointKit, may: () => Promise<boolean>) {
  let isLeft = true
  const mayStay = async () => {
    isLeft = (await factors.state(sub, kit)).app
    return isLeft && may()
  }
  // Not the app of a user who was only revoked. The codes that replace these are shown to no user.
  const undo = () => (isLeft ? factors.newCodes(sub, kit) : factors.remove(sub, kit, { secret: noApp }))
  await keepIf(kit, mayStay, undo)
}

/** Returns a kit that asks once, directly before its first write. What has begun is not left half done. */
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

/**
 * Returns the services with which a form changes what signs its user in. Each write asks whether the session still counts:
 * before, at the last moment, and where it has added or marked something, afterwards. A thief whose session has ended while
 * the request was in flight removes nothing, and leaves nothing.
 */
export function guarded(visit: Visit, services: AccountServices): AccountServices {
  const { kit } = visit
  const { passkeys, secondFactors, linkedProviders, sessions } = services
  const may = () => mayStillChange(visit, services)
  async function ask(): Promise<void> {
    if (!(await may())) throw refused(kit)
  }
  /** Also before the call: what the host stores itself does not use the kit. */
  async function write<T>(call: (asking: EndpointKit) => Promise<T>): Promise<T> {
    await ask()
    return call(askingKit(kit, ask))
  }
  /** A removal asks once more, when what it removes does not count any more: it puts back what it must not remove. */
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
  return {
    ...services,
    sessions: replacing(sessions, {
      end: (_kit, sid) => write((asking) => sessions.end(asking, sid)),
      async start(_kit, user, request) {
        await ask()
        const started = await sessions.start(kit, user, request)
        if (started.session.sid === visit.session.sid) return started
        // The session that it continues has just ended.
        await sessions.end(kit, started.session.sid)
        throw refused(kit)
      },
    }),
    passkeys:
      passkeys &&
      replacing(passkeys, {
        async add(passkey) {
          const added = await write((asking) => passkeys.add(passkey, asking))
          if (typeof added !== 'string') await keepIf(kit, may, () => passkeys.remove(passkey.sub, added.id, kit))
          return added
        },
        rename: (sub, id, name) => write((asking) => passkeys.rename(sub, id, name, asking)),
        remove: (sub, id) => removal((asking, check) => passkeys.remove(sub, id, asking, check)),
      }),
    secondFactors:
      secondFactors &&
      replacing(secondFactors, {
        async confirm(app) {
          const result = await write((asking) => secondFactors.confirm(app, asking))
          // Not another app, which the owner has set up since.
          const undo = () => secondFactors.remove(app.sub, kit, { secret: app.secret })
          if (result === 'confirmed') await keepIf(kit, may, undo)
          return result
        },
        remove: (sub) => removal((asking, isStillAllowed) => secondFactors.remove(sub, asking, { isStillAllowed })),
        async newCodes(sub) {
          const codes = await write((asking) => secondFactors.newCodes(sub, asking))
          await keepCodes(sub, secondFactors, kit, may)
          return codes
        },
      }),
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
