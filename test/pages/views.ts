import { type PageSets, type PreviewState, previewStates } from '@grantry/pages/preview'

type Views = { readonly [name: string]: (sets: PageSets, locale: string) => ReturnType<PreviewState['render']> }

const viewsOf = (states: readonly PreviewState[]): Views =>
  Object.fromEntries(states.map(({ name, render }) => [name, render]))

/** Every page in every state, by its name. */
export const views = viewsOf(previewStates.filter(({ isMail }) => !isMail))

/** Every mail, by its name. */
export const mails = viewsOf(previewStates.filter(({ isMail }) => isMail))
