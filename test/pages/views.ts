import type { Pages } from '@grantry/pages'
import { previewStates } from '@grantry/pages/preview'

/** Every page in every state, by its name. */
export const views: { readonly [name: string]: (pages: Pages, locale: string) => ReturnType<Pages['error']> } =
  Object.fromEntries(previewStates.map(({ name, render }) => [name, render]))
