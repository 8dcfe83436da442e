import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isMetadataHost } from './metadata-host.rules.js';

const hostOf = (url: string) => new URL(url).hostname;

describe('isMetadataHost', () => {
  it.each([
    'http://169.254.169.254',
    'http://169.254.169.254.',
    'http://2852039166',
    'http://0xa9fea9fe',
    'http://0xA9.0xFE.0xA9.0xFE',
    'http://0251.0376.0251.0376',
    'http://169.254.43518',
    'http://169.16689662',
    'http://0xa9.254.0251.254',
    'http://１６９.２５４.１６９.２５４',
    'http://169。254。169。254',
    'http://%31%36%39.254.169.254',
    'http://ⓘnstance-data',
    'http://user:password@169.254.169.254',
    'http://api.example.com@169.254.169.254',
    'http://169.254.169.254:8080',
    'http://169.254.170.2',
    'http://[::ffff:169.254.169.254]',
    'http://[::ffff:a9fe:a9fe]',
    'http://[0:0:0:0:0:ffff:a9fe:a9fe]',
    'http://[::169.254.169.254]',
    'http://[64:ff9b::169.254.169.254]',
    'http://[64:ff9b:1::a9fe:a9fe]',
    'http://[64:ff9b:1:a9fe:a9:fe00::]',
    'http://[64:ff9b:1:a9:fe:a9fe::]',
    'http://[64:ff9b:1:0:a9:fea9:fe00:0]',
    'http://[2002:a9fe:a9fe::1]',
    'http://[2001:db8::5efe:a9fe:a9fe]',
    'http://[fe80::200:5efe:a9fe:a9fe]',
    'http://[fd00:ec2::254]',
    'http://[FD00:0EC2:0000::0254]',
    'http://[fd20:ce::254]',
    'http://[fd00:42::42]',
    'http://[fd00:a9fe:a9fe::1]',
    'http://100.100.100.200',
    'http://0x646464c8',
    'http://192.0.0.192',
    'http://168.63.129.16',
    'http://metadata.google.internal',
    'http://metadata.google.internal.',
    'http://METADATA.Google.Internal',
    'http://metadata%2egoogle.internal',
    'http://metadata。google。internal',
    'http://metadata',
    'http://instance-data',
    'http://instance-data.ec2.internal.',
    'http://metadata.azure.internal',
    'http://metadata.tencentyun.com',
  ])('%s → metadata', (url) => expect(isMetadataHost(hostOf(url))).toBe(true));

  it.each([
    'http://169.253.255.255',
    'http://100.100.100.201',
    'http://10.0.0.1',
    'http://localhost',
    'http://[::1]',
    'http://[fd00::1]',
    'http://[64:ff9b:1::a00:1]',
    'http://metadata.example.com',
    'http://my-metadata.google.internal',
    'http://google.internal',
    'http://api.openai.com',
  ])('%s → not', (url) => expect(isMetadataHost(hostOf(url))).toBe(false));

  it('any text → an answer, never an error', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => typeof isMetadataHost(text) === 'boolean'));
  });
});
