import { createPages } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import { errorPage } from '@grantry/plugins/error-pages'

export const { presentError } = errorPage({ pages: createPages({ languages }) })
