import { withoutSignatures } from '../../test/support/same-tokens.ts'
import { advance, type Family } from './family.ts'
import { abbreviate, type Ledger } from './ledger.ts'
import type { ReceivedResponse, Send } from './send.ts'
import { retryWindow } from './window.ts'

/** The tokens of a 200 response. */
export interface Tokens {
  readonly refreshToken: string
  readonly accessToken: string
}

/** What a client knows about its family. `lost`: it was rejected, and should not have been. */
export type FamilyState = 'alive' | 'dead' | 'lost'

export interface Refresh {
  /** Presents a refresh token until a server responds. Checks only that the responses are always the same. */
  present(family: Family, token: string, more?: Readonly<Record<string, string>>): Promise<ReceivedResponse>
  /** `undefined`, and a violation, when something is missing. */
  tokensOf(response: ReceivedResponse): Tokens | undefined
  /** The newest token, presented so many times concurrently. */
  advance(family: Family, times: number): Promise<FamilyState>
}

const wholeSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000)

export function createRefresh({ send, ledger }: { readonly send: Send; readonly ledger: Ledger }): Refresh {
  function tokensOf({ body }: ReceivedResponse): Tokens | undefined {
    const { refresh_token: refreshToken, access_token: accessToken } = body
    const isWhole = typeof refreshToken === 'string' && typeof accessToken === 'string'
    ledger.check('answers known', isWhole, () => `a token response without tokens: ${JSON.stringify(body)}`)
    return isWhole ? { refreshToken, accessToken } : undefined
  }

  async function present(
    family: Family,
    token: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<ReceivedResponse> {
    const form = { grant_type: 'refresh_token', refresh_token: token, ...more }
    const response = await send('/connect/token', form, family.as)
    if (response.status === 200) ledger.successor(token, JSON.stringify(withoutSignatures(response.body ?? {})))
    return response
  }

  const firstSentAtOf = (responses: readonly ReceivedResponse[]): number =>
    Math.min(...responses.map(({ firstSentAt }) => firstSentAt))

  /** Whether a rejection is allowed: `retry answered`, in the ledger. */
  function isOver(responses: readonly ReceivedResponse[], refused: ReceivedResponse): boolean {
    const attempts = responses.reduce((sum, response) => sum + response.attempts, 0)
    return attempts > 1 && wholeSeconds(refused.answeredAt) >= wholeSeconds(firstSentAtOf(responses)) + retryWindow
  }

  function judge(response: ReceivedResponse, responses: readonly ReceivedResponse[], token: string): FamilyState {
    const isGranted = response.status === 200
    const isLate = !isGranted && isOver(responses, response)
    if (isLate) ledger.count('refusedLate')
    ledger.check('retry answered', isGranted || isLate, () => {
      const after = response.answeredAt - response.firstSentAt
      return `${abbreviate(token)} was refused ${after} ms after it was first sent, at attempt ${response.attempts}`
    })
    if (isGranted) return 'alive'
    return isLate ? 'dead' : 'lost'
  }

  return {
    present,
    tokensOf,
    async advance(family, times) {
      const token = family.refreshToken
      const responses = await Promise.all(Array.from({ length: times }, () => present(family, token)))
      const states = responses.map((response) => judge(response, responses, token))
      const granted = responses.find(({ status }) => status === 200)
      const tokens = granted && tokensOf(granted)
      if (granted !== undefined && tokens !== undefined) {
        ledger.count('refreshes')
        const times = { firstSentAt: firstSentAtOf(responses), answeredAt: granted.answeredAt }
        advance(family, tokens.refreshToken, tokens.accessToken, times)
      }
      return states.find((state) => state === 'lost') ?? states.find((state) => state === 'dead') ?? 'alive'
    },
  }
}
