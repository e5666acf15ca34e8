import type { Refuse } from '@grantry/core'
import type { AuthorizationParameters } from './response.ts'

export const prompts = ['none', 'login', 'consent', 'select_account'] as const
/** @see Initiating User Registration via OpenID Connect 1.0 section 4 */
export type Prompt = (typeof prompts)[number] | 'create'

export const wordsOf = (text: string | undefined): readonly string[] =>
  (text ?? '').split(' ').filter((word) => word !== '')

/** What the interaction can do. */
export interface RequestOptions {
  /** Whether `prompt=create` is accepted. */
  readonly createsAccounts: boolean
}

/** @throws OAuthError for the client. */
export function promptsOf(
  { prompt }: AuthorizationParameters,
  { createsAccounts }: RequestOptions,
  refuse: Refuse,
): ReadonlySet<Prompt> {
  const words = wordsOf(prompt)
  const isPrompt = (word: string): word is Prompt =>
    (prompts as readonly string[]).includes(word) || (createsAccounts && word === 'create')
  if (!words.every(isPrompt)) {
    throw refuse('invalid_request', 'The parameter prompt is malformed', 'prompt_unknown')
  }
  const requested = new Set(words)
  if (requested.has('none') && requested.size > 1) {
    throw refuse('invalid_request', 'The prompt none excludes all others', 'prompt_contradiction')
  }
  return requested
}
