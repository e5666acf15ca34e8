import type { Credentials } from '@grantry/testing'
import type { Random } from '../../test/support/random.ts'
import { api, loginOf, narrowerScope } from '../../test/support/server-setting.ts'
import { type Family, newFamily, type RevokedFamily, revokedFamilyOf, type SpentToken } from './family.ts'
import { abbreviate, type Ledger } from './ledger.ts'
import { createRefresh } from './refresh.ts'
import type { Send } from './send.ts'
import { retryWindow } from './window.ts'

/** One client that owns one family at a time, and performs one action after the other with it. */
export interface Client {
  /** The live family. */
  readonly family: Family | undefined
  /** How often its refresh token was accepted. */
  readonly refreshes: number
  step(): Promise<void>
}

/** An action of a client with its family. */
interface ClientAction {
  /** The relative frequency, as a weight. */
  readonly weight: number
  isPossible(family: Family): boolean
  act(family: Family): Promise<void>
}

/** By every clock: one second more, because the provider counts whole seconds. */
const isOutOfWindow = (spent: SpentToken | undefined): boolean =>
  spent !== undefined && Date.now() > spent.answeredAt + (retryWindow + 1) * 1000

/** @param patient revokes nothing, so that its family lives until a token of it is out of its window. */
export function createClient(deps: {
  readonly user: number
  readonly as: Credentials
  readonly patient: boolean
  readonly send: Send
  readonly ledger: Ledger
  readonly random: Random
  readonly revokedFamilies: RevokedFamily[]
}): Client {
  const { user, as, patient, send, ledger, random, revokedFamilies } = deps
  const refresh = createRefresh({ send, ledger })
  let family: Family | undefined
  let refreshes = 0

  async function begin(): Promise<void> {
    const response = await send('/connect/token', loginOf(user), as)
    ledger.check(
      'answers known',
      response.status === 200,
      () => `a login was rejected: ${JSON.stringify(response.body)}`,
    )
    const tokens = refresh.tokensOf(response)
    if (tokens === undefined) return
    ledger.count('families')
    family = newFamily(as, tokens.refreshToken, tokens.accessToken)
  }

  function bury(dead: Family, why: string): void {
    revokedFamilies.push(revokedFamilyOf(dead, why))
    family = undefined
  }

  async function advance(living: Family, times: number): Promise<void> {
    const before = living.refreshToken
    const state = await refresh.advance(living, times)
    if (living.refreshToken !== before) refreshes += 1
    if (state === 'dead') bury(living, 'was refused after the window')
    if (state === 'lost') family = undefined
  }

  async function revoke(living: Family, token: string): Promise<void> {
    const { status, body } = await send('/connect/revocation', { token }, living.as)
    ledger.check('answers known', status === 200, () => `a revocation was rejected: ${JSON.stringify(body)}`)
  }

  async function revokeFamily(living: Family): Promise<void> {
    // Any token of the family works, including one that was rotated long ago.
    const token = random.pick([living.refreshToken, living.lastSpent?.token ?? living.refreshToken])
    if (random.chance(0.5)) {
      await revoke(living, token)
    } else {
      // Tokens of a refresh that is in flight are revoked from the start.
      const [response] = await Promise.all([refresh.present(living, living.refreshToken), revoke(living, token)])
      const tokens = response.status === 200 ? refresh.tokensOf(response) : undefined
      if (tokens !== undefined) {
        living.elderAccessTokens.push(living.accessToken)
        living.accessToken = tokens.accessToken
        living.refreshToken = tokens.refreshToken
      }
    }
    ledger.count('revocations')
    bury(living, 'was revoked')
  }

  async function revokeAccessToken(living: Family): Promise<void> {
    const token = living.accessToken
    await revoke(living, token)
    ledger.count('accessRevocations')
    revokedFamilies.push({ as, why: 'had this access token revoked', refreshTokens: [], accessTokens: [token] })
    await advance(living, 1)
  }

  /**
   * Presents a spent token as no legitimate client does. It and all later tokens of its family are revoked from the
   * rejection on.
   */
  async function replay(living: Family, token: string, more: Readonly<Record<string, string>>): Promise<void> {
    const { status } = await refresh.present(living, token, more)
    ledger.check('dead stays dead', status === 400, () => `the replay of ${abbreviate(token)} returned ${status}`)
    if (status === 400) bury(living, 'was replayed')
    else family = undefined
  }

  async function replayLate(living: Family): Promise<void> {
    await replay(living, living.firstSpent?.token ?? '', {})
    ledger.count('lateReplays')
  }

  /** Inside the window, but with another request. */
  async function replayOther(living: Family): Promise<void> {
    await replay(living, living.lastSpent?.token ?? '', { scope: narrowerScope })
    ledger.count('otherReplays')
  }

  /** Inside the window, but its successor was spent, so the response to it was not lost. */
  async function replayWalked(living: Family): Promise<void> {
    await replay(living, living.firstSpent?.token ?? '', {})
    ledger.count('walkedReplays')
  }

  async function twins(living: Family): Promise<void> {
    ledger.count('twins')
    await advance(living, 2)
  }

  async function introspect({ accessToken }: Family): Promise<void> {
    const { body } = await send('/connect/introspect', { token: accessToken }, api)
    ledger.check('kept', body.active === true, () => `the access token ${abbreviate(accessToken)} is not active`)
  }

  const always = (): boolean => true
  const actions: readonly ClientAction[] = [
    { weight: 100, isPossible: always, act: (living) => advance(living, 1) },
    { weight: 12, isPossible: always, act: twins },
    { weight: 12, isPossible: always, act: introspect },
    { weight: 60, isPossible: ({ firstSpent }) => isOutOfWindow(firstSpent), act: replayLate },
    { weight: 8, isPossible: () => !patient, act: revokeFamily },
    { weight: 8, isPossible: () => !patient, act: revokeAccessToken },
    { weight: 6, isPossible: ({ lastSpent }) => !patient && lastSpent !== undefined, act: replayOther },
    {
      weight: 10,
      isPossible: ({ firstSpent, lastSpent }) => !patient && firstSpent !== lastSpent,
      act: replayWalked,
    },
  ]

  function chooseAction(living: Family): ClientAction {
    const possible = actions.filter(({ isPossible }) => isPossible(living))
    return random.pick(possible.flatMap((deed) => Array.from({ length: deed.weight }, () => deed)))
  }

  return {
    get family() {
      return family
    },
    get refreshes() {
      return refreshes
    },
    async step() {
      if (family === undefined) await begin()
      else await chooseAction(family).act(family)
    },
  }
}
