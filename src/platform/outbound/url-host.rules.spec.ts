import { describe, expect, it } from '@jest/globals';
import { bareHost, dialledPort, hostAndPort } from './url-host.rules.js';

describe('the host and port of a URL', () => {
  it.each([
    ['https://models.example.com/v1', 'models.example.com', 443, 'models.example.com:443'],
    ['http://models.example.com/', 'models.example.com', 80, 'models.example.com:80'],
    ['https://models.example.com:8443/', 'models.example.com', 8443, 'models.example.com:8443'],
    ['http://127.0.0.1:8080/', '127.0.0.1', 8080, '127.0.0.1:8080'],
    ['http://[::1]:8080/', '::1', 8080, '[::1]:8080'],
    ['https://[2001:db8::1]/', '2001:db8::1', 443, '[2001:db8::1]:443'],
  ])('%s → %s and %d, together %s', (text, host, port, both) => {
    const url = new URL(text);
    expect([bareHost(url.hostname), dialledPort(url)]).toEqual([host, port]);
    expect(hostAndPort(host, port)).toBe(both);
  });
});
