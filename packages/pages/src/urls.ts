import { parseUrl } from '@grantry/core'

/** Only `https` URLs become links and images: a `javascript:` URL would run in the page. */
export const isHttps = (url: string | undefined): url is string =>
  url !== undefined && parseUrl(url)?.protocol === 'https:'

const imageHost = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/u

/** Whether a content security policy can name the host of an image. Others would make every page fail. */
export const isImageUrl = (url: string | undefined): url is string =>
  isHttps(url) && imageHost.test(parseUrl(url)?.hostname ?? '')
