import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../contract/endpoints/address.ts'
import { consoleUrls } from './console-urls.ts'

const addresses = (...texts: string[]) =>
  texts.map((text) => {
    const parsed = parseAddress(text)
    if (!parsed.ok) throw new Error(parsed.message)
    return parsed.address
  })

const PUBLIC = 'https://gatehouse.example.org'

describe('consoleUrls', () => {
  it.each([
    ['tcp://127.0.0.1:8529', 'http://127.0.0.1:8529/_console/'],
    ['tcp://127.0.0.5:1', 'http://127.0.0.5:1/_console/'],
    ['tcp://localhost:8529', 'http://localhost:8529/_console/'],
    ['tcp://[::1]:8529', 'http://[::1]:8529/_console/'],
    ['ssl://127.0.0.1:8530', 'https://127.0.0.1:8530/_console/'],
  ])('of %s is %s, and needs nothing else', (address, url) => {
    expect(consoleUrls(addresses(address), undefined)).toEqual({ urls: [url], advice: undefined })
  })

  it.each([
    ['tcp://0.0.0.0:8529', 'http://127.0.0.1:8529', 'http://<this machine>:8529'],
    ['tcp://[::]:8529', 'http://[::1]:8529', 'http://<this machine>:8529'],
    ['ssl://0.0.0.0:8530', 'https://127.0.0.1:8530', 'https://<this machine>:8530'],
    ['tcp://192.0.2.7:8529', undefined, 'http://192.0.2.7:8529'],
    ['tcp://[2001:db8::7]:8529', undefined, 'http://[2001:db8::7]:8529'],
    ['ssl://gatehouse.example.org:443', undefined, 'https://gatehouse.example.org:443'],
  ])('of %s say what other machines need', (address, local, publicUrl) => {
    expect(consoleUrls(addresses(address), undefined)).toEqual({
      urls: local === undefined ? [] : [`${local}/_console/`],
      advice: `To sign in from other machines, start with --public-url ${publicUrl}`,
    })
  })

  it('start with the public URL, followed by one of this machine', () => {
    expect(consoleUrls(addresses('tcp://0.0.0.0:8529'), PUBLIC)).toEqual({
      urls: [`${PUBLIC}/_console/`, 'http://127.0.0.1:8529/_console/'],
      advice: undefined,
    })
    expect(consoleUrls(addresses('unix:///run/g.sock'), PUBLIC)).toEqual({
      urls: [`${PUBLIC}/_console/`],
      advice: undefined,
    })
    expect(consoleUrls(addresses('tcp://127.0.0.1:80'), 'http://127.0.0.1:80').urls).toHaveLength(1)
  })

  it('prefer a URL without a certificate warning', () => {
    const both = addresses('ssl://127.0.0.1:8530', 'tcp://127.0.0.1:8529')
    expect(consoleUrls(both, undefined).urls).toEqual(['http://127.0.0.1:8529/_console/'])
  })

  it.each([[['unix:///run/g.sock']], [[]]])('of %j are empty and need a proxy', (texts) => {
    expect(consoleUrls(addresses(...texts), undefined)).toEqual({
      urls: [],
      advice: expect.stringContaining('put a proxy in front'),
    })
  })
})
