import type { Answer, Ask } from './ask.ts'
import { advance, type Family } from './family.ts'
import { type Ledger, shortly } from './ledger.ts'
import { retryWindow } from './setting.ts'

/** The tokens of a 200 response. */
export interface Tokens {
  readonly refreshToken: string
  readonly accessToken: string
}

/** What a client knows about its family. `lost`: it was rejected, and should not have been. */
export type FamilyState = 'alive' | 'dead' | 'lost'

export interface Refresh {
  /** Presents a refresh token until a server responds. Checks only that the responses are always the same. */
  present(family: Family, token: string, more?: Readonly<Record<string, string>>): Promise<Answer>
  /** `undefined`, and a violation, when something is missing. */
  tokensOf(answer: Answer): Tokens | undefined
  /** The newest token, presented so many times concurrently. */
  advance(family: Family, times: number): Promise<FamilyState>
}

const wholeSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000)

export function createRefresh({ ask, ledger }: { readonly ask: Ask; readonly ledger: Ledger }): Refresh {
  function tokensOf({ body }: Answer): Tokens | undefined {
    const { refresh_token: refreshToken, access_token: accessToken } = body
    const isWhole = typeof refreshToken === 'string' && typeof accessToken === 'string'
    ledger.check('answers known', isWhole, () => `a token response without tokens: ${JSON.stringify(body)}`)
    return isWhole ? { refreshToken, accessToken } : undefined
  }

  async function present(family: Family, token: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const form = { grant_type: 'refresh_token', refresh_token: token, ...more }
    const answer = await ask('/connect/token', form, family.as)
    if (answer.status === 200) ledger.successor(token, JSON.stringify(answer.body))
    return answer
  }

  /** Whether a rejection is allowed: `retry answered`, in the ledger. */
  function isOver(answers: readonly Answer[], refused: Answer): boolean {
    const attempts = answers.reduce((sum, answer) => sum + answer.attempts, 0)
    const firstSentAt = Math.min(...answers.map((answer) => answer.firstSentAt))
    return attempts > 1 && wholeSeconds(refused.answeredAt) >= wholeSeconds(firstSentAt) + retryWindow
  }

  function judge(answer: Answer, answers: readonly Answer[], token: string): FamilyState {
    const isGranted = answer.status === 200
    const isLate = !isGranted && isOver(answers, answer)
    if (isLate) ledger.count('refusedLate')
    ledger.check('retry answered', isGranted || isLate, () => {
      const after = answer.answeredAt - answer.firstSentAt
      return `${shortly(token)} was refused ${after} ms after it was first sent, at attempt ${answer.attempts}`
    })
    if (isGranted) return 'alive'
    return isLate ? 'dead' : 'lost'
  }

  return {
    present,
    tokensOf,
    async advance(family, times) {
      const token = family.refreshToken
      const answers = await Promise.all(Array.from({ length: times }, () => present(family, token)))
      const states = answers.map((answer) => judge(answer, answers, token))
      const granted = answers.find(({ status }) => status === 200)
      const tokens = granted && tokensOf(granted)
      if (granted !== undefined && tokens !== undefined) {
        ledger.count('refreshes')
        advance(family, tokens.refreshToken, tokens.accessToken, granted.answeredAt)
      }
      return states.find((state) => state === 'lost') ?? states.find((state) => state === 'dead') ?? 'alive'
    },
  }
}
