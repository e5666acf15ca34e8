import { createPageSet, type Framed } from './page-set.ts'
import { type PagesOptions, settingsOf } from './pages-options.ts'
import { templates as ownTemplates, type SignInSet, type Templates } from './templates/templates.ts'

/** The pages of a sign-in, ready for `authorizationEndpoint()`, `signIn()`, `deviceSignIn()` and `endSession()`. */
export type Pages = Framed<SignInSet>

/**
 * Creates the pages of a sign-in: plain HTML that works without scripts.
 *
 * @throws TypeError when an option is malformed.
 */
export function createPages(input: PagesOptions & { readonly templates?: Partial<Templates> } = {}): Pages {
  const { templates, ...appearance } = input
  const { localeOf, renderers } = createPageSet(settingsOf(appearance, 'createPages()'), (tools) => tools)
  const { deviceCode, ...framed }: Templates = { ...ownTemplates, ...templates }
  // Users open the page for device codes directly, and its cookie is not sent in frames.
  return { localeOf, ...renderers(framed), ...renderers({ deviceCode }, []) }
}
