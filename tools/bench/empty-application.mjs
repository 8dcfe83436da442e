/**
 * The frameworks of the gateway without the gateway: an application without routes, and a connection to Postgres. Its
 * memory is the minimum of any application of these packages. Argument: URL of the database.
 */
import 'reflect-metadata';
import 'class-transformer';
import 'class-validator';
import 'ioredis';
import 'jose';
import 'undici';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ScheduleModule } from '@nestjs/schedule';
import { DataSource } from 'typeorm';

class EmptyModule {}
Module({ imports: [ScheduleModule.forRoot()] })(EmptyModule);

const [url] = process.argv.slice(2);
await new DataSource({ type: 'postgres', url }).initialize();
const app = await NestFactory.create(EmptyModule, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
process.send({ port: app.getHttpServer().address().port });
