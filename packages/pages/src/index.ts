export { createPages, type Pages } from './create-pages.ts'
export { type Content, type Html, html } from './html.ts'
export type { Messages } from './messages/messages.ts'
export { type MissingTexts, missingTexts } from './missing-texts.ts'
export { type PagesOptions, pagesSchema } from './options.ts'
export type { Templates } from './templates/templates.ts'
export type { Page, Rendered, Tools } from './tools.ts'
export type {
  ChooseAccountView,
  ClientView,
  ConfirmLogoutView,
  ConsentView,
  DeviceCodeView,
  DeviceProblem,
  ErrorView,
  FormPostView,
  FormView,
  LogoutEndView,
  SignInProblem,
  SignInView,
} from './views.ts'
