import type { ClientView } from '../views.ts'

// The types of `@grantry/plugins/account` with the members that the templates use.

export interface SessionView {
  readonly device: { readonly browser?: string | undefined; readonly system?: string | undefined }
  readonly address?: string | undefined
  /** Seconds since the last use. */
  readonly unused: number
  readonly isCurrent: boolean
  readonly end?: string | undefined
}

export interface ApplicationView extends Pick<ClientView, 'clientId' | 'name' | 'logoUri'> {
  readonly scopes: readonly string[]
}

export type AccountNotice = 'session_ended' | 'sessions_ended' | 'access_withdrawn' | 'gone' | 'form_expired'

export interface OverviewView {
  readonly subjectName: string
  readonly sessions: readonly SessionView[]
  readonly endOthers?: string | undefined
  readonly applications: readonly (ApplicationView & { readonly withdraw: string })[]
  readonly notice?: AccountNotice | undefined
}

export type ConfirmView = {
  readonly subjectName: string
  readonly form: { readonly action: string; readonly fields: Readonly<Record<string, string>> }
  readonly back: string
} & (
  | { readonly change: 'end_session'; readonly session: SessionView }
  | { readonly change: 'end_other_sessions' }
  | { readonly change: 'withdraw'; readonly application: ApplicationView }
)
